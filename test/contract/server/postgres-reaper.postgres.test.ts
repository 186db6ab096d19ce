import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { cuttingProxy } from '../../support/cutting-proxy.ts'
import { answer, claimed, draft, effect, found, heldWork, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()
const over = { leaseMs: 0, retentionMs: 0 }

async function reapAll(limit = 1000) {
  const ledger = scene.ledger()
  const total = { deleted: 0, abandoned: 0 }
  for (;;) {
    const { deleted, abandoned, more } = await ledger.reap({ limit, now: 0 })
    total.deleted += deleted
    total.abandoned += abandoned
    if (!more) return total
  }
}

it('does not guess how many entries there are before the first ANALYZE', async () => {
  const ledger = scene.ledger()
  const claim = await claimed(ledger)
  expect((await ledger.gauges(0)).entries).toBeUndefined()
  await scene.query('ANALYZE holdfast_entries')
  expect((await ledger.gauges(0)).entries).toBe(1)
  await ledger.release(claim)
})

describe('the reaper', () => {
  it('shares its work with other reapers, and no row is counted twice', async () => {
    const ledger = scene.ledger()
    await reapAll()
    const claims = await Promise.all(Array.from({ length: 60 }, () => claimed(ledger, over)))
    await Promise.all(claims.map((claim) => ledger.complete(claim, answer('x'), 0)))
    const totals = await Promise.all([reapAll(7), reapAll(7), reapAll(7)])
    // One that met only rows of the others thinks that it is done; together they have done it all.
    const rest = await reapAll()
    expect(totals.reduce((sum, { deleted }) => sum + deleted, rest.deleted)).toBe(60)
    expect(await ledger.stats(0)).toMatchObject({ done: 0, expired: 0 })
  })

  it('leaves alone what a newer version has written, and does not count it', async () => {
    const ledger = scene.ledger()
    await reapAll()
    const done = await claimed(ledger, over)
    await ledger.complete(done, answer('x'), 0)
    const others = [await claimed(ledger, over), await claimed(ledger, { ...over, external: true })]
    const keys = [done, ...others].map(({ key }) => key)
    await scene.query('UPDATE holdfast_entries SET version = version + 1 WHERE key = ANY ($1)', [keys])
    expect(await reapAll()).toEqual({ deleted: 0, abandoned: 0 })
    expect(await ledger.stats(0)).toMatchObject({ running: 2, done: 1, unknown: 0, expired: 0 })
    await scene.query('UPDATE holdfast_entries SET version = version - 1 WHERE key = ANY ($1)', [keys])
    expect(await reapAll()).toEqual({ deleted: 2, abandoned: 1 })
  })

  it('does not wait for another one that is at work', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, over)
    await ledger.complete(claim, answer('x'), 0)
    const client = await scene.pool().connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM holdfast_entries WHERE key = $1 FOR UPDATE', [claim.key])
    expect(await reapAll()).toMatchObject({ deleted: 0 })
    await client.query('ROLLBACK')
    client.release()
    expect(await reapAll()).toMatchObject({ deleted: 1 })
  })

  it.each([true, false])('leaves a live effect alone, however old it is (external: %s)', async (external) => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { ...over, external })
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, claim, { work })
    await begun
    expect(await reapAll()).toEqual({ deleted: 0, abandoned: 0 })
    goOn()
    expect(await running).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect(await reapAll()).toEqual({ deleted: 1, abandoned: 0 })
  })

  it('deletes what a killed backend left once it is past its retention, and fences whoever still believes in it', async () => {
    const proxy = await cuttingProxy(scene.url)
    const ledger = scene.ledger({ connectionString: proxy.url })
    const claim = await claimed(ledger, over)
    const { work, begun, goOn } = heldWork()
    const dying = effect(ledger, claim, { work }).catch(() => 'rejected')
    const pid = await begun
    // Its process can't tell the database what became of it.
    proxy.setDown(true)
    await scene.terminate(pid)
    expect(await reapAll()).toEqual({ deleted: 1, abandoned: 0 })
    goOn()
    expect(await dying).toBe('rejected')
    proxy.setDown(false)
    expect(await effect(ledger, claim)).toBe('lost')
    expect(await scene.effects(claim.key)).toBe(0)
    await proxy.close()
  })

  it('begins each batch of a pass where the one before it ended, for messages too', async () => {
    const pool = scene.pool()
    const places: unknown[] = []
    const query = pool.query.bind(pool) as (text: string, values?: unknown[]) => Promise<pg.QueryResult>
    pool.query = ((text: string, values?: unknown[]) => {
      if (/DELETE FROM \S+holdfast_messages/.test(text)) places.push(values?.[1])
      return query(text, values)
    }) as never
    const ledger = postgresLedger({ pool, schema: scene.schema })
    for (let at = 0; at < 5; at++)
      await ledger.consume({ scope: 's', id: `m${at}`, retentionMs: 0, now: 0 }, { work: () => null, options: {} })
    const deleted: number[] = []
    for (let more = true; more; ) {
      const batch = await ledger.reap({ limit: 2, now: 0 })
      deleted.push(batch.deleted)
      more = batch.more
    }
    await ledger.reap({ limit: 2, now: 0 })
    expect(deleted).toEqual([2, 2, 1])
    expect(places[0]).toBe('-infinity')
    expect(places.slice(1, 3)).not.toContain('-infinity')
    // The next pass looks again at what was locked.
    expect(places.slice(3)).toEqual(['-infinity'])
  })

  it('never deletes what may have been done outside', async () => {
    const ledger = scene.ledger()
    const silent = await claimed(ledger, { ...over, external: true })
    const unknown = await claimed(ledger, { retentionMs: 0 })
    await ledger.abandon(unknown, 0)
    expect(await reapAll()).toEqual({ deleted: 0, abandoned: 1 })
    expect(await reapAll()).toEqual({ deleted: 0, abandoned: 0 })
    for (const claim of [silent, unknown]) expect((await found(ledger, claim)).entry.state).toBe('unknown')
    const again = await ledger.takeOver((await found(ledger, silent)).entry, draft({ key: silent.key }))
    expect(again?.attempt).toBe(2)
  })
})
