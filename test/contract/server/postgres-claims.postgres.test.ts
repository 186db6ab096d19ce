import { describe, expect, it } from 'vitest'
import { answer, claimed, draft, effect, found, keep, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

describe('one key', () => {
  it('goes to one of 50 that come at once', async () => {
    const ledger = scene.ledger({ max: 20 })
    const { key } = draft()
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const insertion = await ledger.insert(draft({ key }))
        return insertion.kind === 'inserted' ? effect(ledger, insertion.claim) : insertion.found.entry.state
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1)
    expect(outcomes.filter((outcome) => !['recorded', 'running', 'done'].includes(outcome))).toEqual([])
    expect(await scene.effects(key)).toBe(1)
  })

  it('goes to one of 50 where every transaction is serializable', async () => {
    const options = `-c search_path=${scene.schema} -c default_transaction_isolation=serializable`
    const ledger = scene.ledger({ max: 20, options })
    const { key } = draft()
    const insertions = await Promise.all(Array.from({ length: 50 }, () => ledger.insert(draft({ key }))))
    expect(insertions.filter(({ kind }) => kind === 'inserted')).toHaveLength(1)
  })

  it('is another one in another scope', async () => {
    const ledger = scene.ledger()
    const { key } = await claimed(ledger)
    expect((await ledger.insert(draft({ key, scope: 'tenant-2' }))).kind).toBe('inserted')
  })

  it('is inserted without a look before it, and a duplicate finds its entry, in one round trip each', async () => {
    const pool = scene.pool()
    const statements: string[] = []
    const query = pool.query.bind(pool) as (text: string, values?: unknown[]) => Promise<never>
    const { postgresLedger } = await import('../../../src/server/ledger/postgres/postgres-ledger.ts')
    const watched = Object.assign(pool, {
      query: (text: string, values?: unknown[]) => {
        statements.push(text)
        return query(text, values)
      },
    })
    const ledger = postgresLedger({ pool: watched, schema: scene.schema })
    await ledger.stats(0)
    statements.length = 0
    const asked = draft()
    expect(await ledger.insert(asked)).toMatchObject({ kind: 'inserted' })
    expect(await ledger.insert({ ...asked, token: 'other' })).toMatchObject({ kind: 'found' })
    expect(statements).toEqual([expect.stringMatching(/_claim_v1\(/), expect.stringMatching(/_claim_v1\(/)])
    const [body] = await scene.query<{ prosrc: string }>(
      "SELECT prosrc FROM pg_proc WHERE proname = 'holdfast_claim_v1'",
    )
    expect(body?.prosrc).toMatch(/INSERT INTO[^;]*ON CONFLICT \(scope, key\) DO NOTHING;[\s\S]*_look_v1/)
    expect(body?.prosrc.split('INSERT')[0]).not.toMatch(/SELECT|_look_v1/)
  })

  it('is updated in place from claim to answer: no index is written', async () => {
    const { postgresLedger } = await import('../../../src/server/ledger/postgres/postgres-ledger.ts')
    const pool = scene.pool()
    const ledger = postgresLedger({ pool, schema: scene.schema })
    const counts = async (): Promise<{ all: number; hot: number; moved: number }> => {
      const [row] = await scene.query<{ all: string; hot: string; moved: string }>(`SELECT n_tup_upd AS all,
        n_tup_hot_upd AS hot, n_tup_newpage_upd AS moved FROM pg_stat_user_tables
        WHERE relname = 'holdfast_entries' AND schemaname = '${scene.schema}'`)
      return { all: Number(row?.all), hot: Number(row?.hot), moved: Number(row?.moved) }
    }
    const before = await counts()
    for (let round = 0; round < 20; round++) await effect(ledger, await claimed(ledger))
    // A connection hands in its counts when it ends.
    await pool.end()
    // The mark and the answer of most: the server's counts are not exact.
    await expect.poll(async () => (await counts()).all, { timeout: 20_000 }).toBeGreaterThanOrEqual(before.all + 30)
    const after = await counts()
    const [hot, moved] = [after.hot - before.hot, after.moved - before.moved]
    expect(hot).toBeGreaterThan(0)
    // A row moves to another page where its own is full, whatever the indexes are.
    expect(hot + moved).toBe(after.all - before.all)
  })
})

describe('what a duplicate finds', () => {
  it('is the entry as it was written, on the clock of the server', async () => {
    const ledger = scene.ledger()
    const first = draft({ leaseMs: 30_000, retentionMs: 3_600_000, external: true, now: 5 })
    await ledger.insert(first)
    const { entry, now, owner } = await found(ledger, first)
    const { scope, key, fingerprint, method, path, token } = first
    expect(entry).toEqual({
      ...{ scope, key, fingerprint, method, path, token, external: true },
      ...{
        state: 'running',
        attempt: 1,
        inEffect: false,
        completedAt: null,
        unknownSince: null,
        answer: null,
        version: 1,
      },
      createdAt: expect.any(Number),
      leaseUntil: entry.createdAt + 30_000,
      expiresAt: entry.createdAt + 3_600_000,
    })
    expect(Math.abs(entry.createdAt - Date.now())).toBeLessThan(60_000)
    expect(now).toBeGreaterThanOrEqual(entry.createdAt)
    expect(owner).toBe('unsure')
  })

  it('is the answer, once there is one', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    expect(await ledger.complete(claim, answer('done'), 0)).toBe(true)
    const { entry } = await found(ledger, claim)
    expect(entry.state).toBe('done')
    expect(entry.answer).toEqual(answer('done'))
    expect(entry.completedAt).toBeGreaterThanOrEqual(entry.createdAt)
  })
})

describe('a lost claim', () => {
  it('changes nothing any more', async () => {
    const [slow, quick] = [scene.ledger(), scene.ledger()]
    const old = await claimed(slow, { leaseMs: 0 })
    const { entry } = await found(quick, old)
    const next = await quick.takeOver(entry, draft({ key: old.key }))
    expect(next?.attempt).toBe(2)
    expect(await slow.renew(old, { leaseMs: 1000, now: 0 })).toBe(false)
    expect(await slow.complete(old, answer('late'), 0)).toBe(false)
    expect(await slow.release(old)).toBe(false)
    expect(await slow.abandon(old, 0)).toBe(false)
    expect(await effect(slow, old)).toBe('lost')
    expect(await scene.effects(old.key)).toBe(0)
    expect(next && (await quick.complete(next, answer('new'), 0))).toBe(true)
    expect((await found(slow, old)).entry.answer).toEqual(answer('new'))
  })

  it('goes to one of many who want to take it over', async () => {
    const ledger = scene.ledger({ max: 10 })
    const old = await claimed(ledger, { leaseMs: 0 })
    const { entry } = await found(ledger, old)
    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.takeOver(entry, draft({ key: old.key }))))
    expect(claims.filter(Boolean)).toHaveLength(1)
  })

  it('is not lost where it was renewed since it was seen', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 0 })
    const { entry } = await found(ledger, claim)
    expect(await ledger.renew(claim, { leaseMs: 60_000, now: 0 })).toBe(true)
    expect(await ledger.takeOver(entry, draft({ key: claim.key }))).toBeUndefined()
    expect(await ledger.complete(claim, answer('mine'), 0)).toBe(true)
  })
})

describe('an answer', () => {
  it('is not taken over before its retention is over', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    await ledger.complete(claim, answer('done'), 0)
    const { entry } = await found(ledger, claim)
    expect(await ledger.takeOver(entry, draft({ key: claim.key }))).toBeUndefined()
  })

  it('makes room for a new entry afterwards', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { retentionMs: 0 })
    await ledger.complete(claim, answer('done'), 0)
    const { entry } = await found(ledger, claim)
    const again = await ledger.takeOver(entry, draft({ key: claim.key, fingerprint: 'f2' }))
    expect(again?.attempt).toBe(1)
    expect(await ledger.find(claim.scope, claim.key)).toMatchObject({
      state: 'running',
      answer: null,
      fingerprint: 'f2',
    })
    expect(again && (await effect(ledger, again, { work: () => keep('anew') }))).toBe('recorded')
  })
})

it('writes a claim to disk at once where its work is outside, and lazily otherwise', async () => {
  const settings = `SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'lock_timeout')`
  const pool = scene.pool({ max: 1 })
  const before = (await pool.query(settings)).rows
  const { postgresLedger } = await import('../../../src/server/ledger/postgres/postgres-ledger.ts')
  const ledger = postgresLedger({ pool, schema: scene.schema })
  // What the statement's own transaction had is seen by a trigger at its end.
  await ledger.stats(0)
  await scene.query('CREATE TABLE seen (external boolean, synchronous_commit text, lock_timeout text)')
  await scene.query(`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ${scene.schema}.seen VALUES
    (NEW.external, current_setting('synchronous_commit'), current_setting('lock_timeout')); RETURN NULL; END $$`)
  await scene.query(
    'CREATE CONSTRAINT TRIGGER see AFTER INSERT ON holdfast_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()',
  )
  await claimed(ledger)
  await claimed(ledger, { external: true, durable: true })
  await scene.query('DROP TRIGGER see ON holdfast_entries')
  expect(await scene.query('SELECT * FROM seen ORDER BY external')).toEqual([
    { external: false, synchronous_commit: 'off', lock_timeout: '50ms' },
    { external: true, synchronous_commit: 'on', lock_timeout: '50ms' },
  ])
  expect((await pool.query(settings)).rows).toEqual(before)
})
