import { describe, expect, it } from 'vitest'
import type { WorkOutcome } from '../../../src/server/entry/outcome.ts'
import type { FoundEntry } from '../../../src/server/ledger/port.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { cuttingProxy } from '../../support/cutting-proxy.ts'
import {
  answer,
  claimed,
  draft,
  effect,
  found,
  keep,
  ledgerScene,
  type PgLedger,
} from '../../support/postgres-ledger.ts'
import { foreignPool, traced } from '../../support/traced-pool.ts'

const scene = ledgerScene()

const DECLINED: WorkOutcome = { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 402 }) }

function tracedLedger() {
  const pool = scene.pool({ max: 1 })
  const trace = traced(pool)
  return { ledger: postgresLedger({ pool, schema: scene.schema }) as PgLedger, trace }
}

/** A ledger on a driver that takes one statement at a time. `then` comes after its next ROLLBACK, before the next statement. */
function steppedLedger(then: () => Promise<void>): PgLedger {
  let isOver = false
  const pool = foreignPool(scene.pool(), async (text, send) => {
    const result = await send()
    if (text === 'ROLLBACK' && !isOver) {
      isOver = true
      await then()
    }
    return result
  })
  return postgresLedger({ pool, schema: scene.schema }) as unknown as PgLedger
}

describe('an effect in Postgres whose work is rolled back', () => {
  it('records a 4xx in a second transaction and one round trip, without a savepoint', async () => {
    const { ledger, trace } = tracedLedger()
    const claim = await claimed(ledger)
    const work = () => {
      trace.clear()
      return DECLINED
    }
    expect(await effect(ledger, claim, { work })).toBe('recorded')
    expect(trace.texts).toEqual([
      expect.stringMatching(
        /^SELECT \S+_insist_v1[^;]*; ROLLBACK; BEGIN[^;]*;[^;]*; SELECT \S+_record_v2\([^;]*; COMMIT$/,
      ),
    ])
    expect(trace.trips).toBe(1)
    expect(trace.texts.join()).not.toMatch(/savepoint/i)
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: { status: 402 } })
  })

  it('needs one round trip before the work and one after it where it commits', async () => {
    const { ledger, trace } = tracedLedger()
    const claim = await claimed(ledger)
    trace.clear()
    expect(await effect(ledger, claim)).toBe('recorded')
    expect(trace.texts).toEqual([
      expect.stringMatching(/COMMIT AND CHAIN; SELECT \S+_enter_v1\([^;]*$/),
      expect.stringMatching(/^INSERT INTO charges/),
      expect.stringMatching(/^SET LOCAL ROLE NONE; SELECT \S+_record_v2\([^;]*; COMMIT$/),
    ])
    expect(trace.trips).toBe(3)
  })

  it('does the same with a driver that takes one statement at a time', async () => {
    const ledger = steppedLedger(async () => {})
    const [kept, declined, freed, thrown] = [
      await claimed(ledger),
      await claimed(ledger),
      await claimed(ledger),
      await claimed(ledger),
    ]
    expect(await effect(ledger, kept)).toBe('recorded')
    expect(await effect(ledger, declined, { work: () => DECLINED })).toBe('recorded')
    expect(await effect(ledger, freed, { work: () => ({ kind: 'released' }) })).toBe('released')
    await expect(effect(ledger, thrown, { work: () => Promise.reject(new Error('broken')) })).rejects.toThrow('broken')
    const entries = await Promise.all([kept, declined, freed, thrown].map(({ scope, key }) => ledger.find(scope, key)))
    expect(entries.map((entry) => entry?.state)).toEqual(['done', 'done', undefined, 'running'])
    expect(entries.map((entry) => entry?.answer?.status)).toEqual([201, 402, undefined, undefined])
    expect([await scene.effects(kept.key), await scene.effects(declined.key)]).toEqual([1, 0])
  })

  it.each([
    ['frees the key after a transient answer', () => ({ kind: 'released' }) as const, undefined],
    ['keeps the claim after a throw', () => Promise.reject(new Error('broken')), 'running'],
  ])('%s', async (_, work, state) => {
    const { ledger } = tracedLedger()
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim, { work }).catch((error: Error) => error.message)).toMatch(/^(released|broken)$/)
    const entry = await ledger.find(claim.scope, claim.key)
    expect([await scene.effects(claim.key), entry?.state]).toEqual([0, state])
    if (entry) expect(entry).toMatchObject({ token: claim.token, inEffect: false, answer: null })
  })

  it('records nothing, and commits nothing, under a claim that was lost', async () => {
    const [ledger, other] = [scene.ledger(), scene.ledger()]
    const claim = await claimed(ledger, { leaseMs: 0 })
    await other.takeOver((await found(other, claim)).entry, draft({ key: claim.key }))
    for (const work of [() => keep(), () => DECLINED]) expect(await effect(ledger, claim, { work })).toBe('lost')
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(other, claim)).entry).toMatchObject({ state: 'running', attempt: 2 })
  })

  it.each([
    ['a 4xx', () => DECLINED],
    ['a throw', () => Promise.reject(new Error('broken'))],
  ])('after %s: changes nothing if another request took over before the second transaction', async (_, work) => {
    const other = scene.ledger()
    const key = draft().key
    const ledger = steppedLedger(async () => {
      await other.takeOver((await found(other, { scope: 'tenant-1', key })).entry, draft({ key }))
    })
    const claim = await claimed(ledger, { key, leaseMs: 0 })
    expect(await effect(ledger, claim, { work, leaseMs: 60_000 })).toBe('lost')
    expect(await scene.effects(key)).toBe(0)
    const { entry } = await found(other, claim)
    expect(entry).toMatchObject({ state: 'running', attempt: 2, answer: null })
    expect(entry.token).not.toBe(claim.token)
  })

  it.each([
    ['a 4xx', () => DECLINED],
    ['a throw', () => Promise.reject(new Error('broken'))],
  ])('after %s: a crash before the second transaction leaves the key to the next process', async (_, work) => {
    const other = scene.ledger()
    const proxy = await cuttingProxy(scene.url)
    const ledger = scene.ledger({ connectionString: proxy.url })
    const claim = await claimed(ledger)
    // The server gets the ROLLBACK as the end of the connection.
    proxy.cutStatement('ROLLBACK', 'before', 'down')
    const dying = effect(ledger, claim, { work, effectLeaseMs: 200 })
    await expect(dying).rejects.toThrow()
    await expect.poll(async () => isFree(await found(other, claim))).toBe(true)
    const left = await found(other, claim)
    expect(left).toMatchObject({ owner: 'unsure', entry: { state: 'running', inEffect: true } })
    expect(await scene.effects(claim.key)).toBe(0)
    const next = await other.takeOver(left.entry, draft({ key: claim.key }))
    expect(next?.attempt).toBe(2)
    expect(next && (await effect(other, next, { work: () => keep() }))).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(other, claim)).entry.state).toBe('done')
    await proxy.close()
  })
})

/** For the lease: the handler shows no sign of life. */
function isFree({ entry, owner, now }: FoundEntry): boolean {
  return owner === 'unsure' && entry.leaseUntil <= now
}
