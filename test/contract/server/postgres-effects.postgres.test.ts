import { describe, expect, it } from 'vitest'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import type { WorkOutcome } from '../../../src/server/entry/outcome.ts'
import type { Claim, FoundEntry } from '../../../src/server/ledger/port.ts'
import { cuttingProxy } from '../../support/cutting-proxy.ts'
import {
  answer,
  claimed,
  draft,
  effect,
  found,
  heldWork,
  keep,
  ledgerScene,
  type PgLedger,
  type PgTransaction,
} from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

describe('an effect', () => {
  it('commits its writes and its answer together', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim)).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: answer('charged') })
  })

  it('undoes its writes and keeps a refusal', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const refused: WorkOutcome = {
      kind: 'recorded',
      writes: 'rolled-back',
      answer: answer('declined', { status: 402 }),
    }
    expect(await effect(ledger, claim, { work: () => refused })).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: { status: 402 } })
  })

  it('keeps a refusal although a statement failed', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const work = async (tx: PgTransaction): Promise<WorkOutcome> => {
      await tx.query('SELECT 1 / 0').catch(() => {})
      return { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 422 }) }
    }
    expect(await effect(ledger, claim, { work })).toBe('recorded')
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: { status: 422 } })
  })

  it('frees the key where it says so', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim, { work: () => ({ kind: 'released' }) })).toBe('released')
    expect(await scene.effects(claim.key)).toBe(0)
    expect(await ledger.find(claim.scope, claim.key)).toBeUndefined()
  })

  it('keeps its claim if it throws, with a whole lease, and the next one has its turn once that is released', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 1000 })
    const error = new Error('out of stock')
    const failing = effect(ledger, claim, { work: () => Promise.reject(error), leaseMs: 60_000 })
    await expect(failing).rejects.toBe(error)
    expect(await scene.effects(claim.key)).toBe(0)
    await expectKept(ledger, claim, { forMs: 60_000 })
    expect(await ledger.release(claim)).toBe(true)
    expect(await effect(ledger, await claimed(ledger, { key: claim.key }))).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
  })

  it('shortens the lease while it runs, as long as that is not shorter already', async () => {
    const [ledger, other] = [scene.ledger(), scene.ledger()]
    const claim = await claimed(ledger, { leaseMs: 600_000 })
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, claim, { work, leaseMs: 600_000, effectLeaseMs: 10_000 })
    await begun
    const { entry, now } = await found(other, claim)
    expect(entry.leaseUntil - now).toBeLessThanOrEqual(10_000)
    goOn()
    expect(await running).toBe('recorded')
  })

  it('keeps nothing where a statement failed and nobody said so', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const work = async (tx: PgTransaction) => {
      await tx.query('SELECT 1 / 0').catch(() => {})
      return keep()
    }
    await expect(effect(ledger, claim, { work })).rejects.toThrow(ConfigurationError)
    expect(await scene.effects(claim.key)).toBe(0)
    await expectKept(ledger, claim)
  })

  describe('that ends the transaction itself is not forgotten', () => {
    const broken = new Error('broken')
    const fail = (): never => {
      throw broken
    }
    const ends: Record<string, string[]> = {
      COMMIT: ['COMMIT'],
      'COMMIT, and begins another one': ['COMMIT', 'BEGIN'],
      'COMMIT, and a failure in another one': ['COMMIT', 'BEGIN', 'SELECT 1 / 0'],
    }
    it.each(
      Object.entries(ends).flatMap(([name, texts]) => [
        { name, next: 'an answer', texts, end: keep },
        {
          name,
          next: 'a refusal',
          texts,
          end: (): WorkOutcome => ({ ...keep(), writes: 'rolled-back' }) as WorkOutcome,
        },
        { name, next: 'a throw', texts, end: fail },
      ]),
    )('by $name, then $next', async ({ texts, end }) => {
      const ledger = scene.ledger()
      const claim = await claimed(ledger)
      const work = async (tx: PgTransaction) => {
        for (const text of texts) await tx.query(text).catch(() => {})
        return end()
      }
      const ended = effect(ledger, claim, { work })
      await expect(ended).rejects.toThrow('The work ended its transaction: COMMIT and ROLLBACK are')
      await expect(ended).rejects.toMatchObject({ effect: 'unknown' })
      expect(await scene.effects(claim.key)).toBe(1)
      expect((await found(ledger, claim)).entry.state).toBe('unknown')
    })

    it('by ROLLBACK', async () => {
      const ledger = scene.ledger()
      const claim = await claimed(ledger)
      const work = async (tx: PgTransaction) => {
        await tx.query('ROLLBACK')
        return keep()
      }
      await expect(effect(ledger, claim, { work })).rejects.toThrow('The work ended its transaction')
      expect((await found(ledger, claim)).entry).toMatchObject({ state: 'unknown', answer: null })
    })
  })

  it('tells of a constraint that is checked at the end in the words of the database', async () => {
    await scene.query('CREATE TABLE orders (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED)')
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const work = async (tx: PgTransaction) => {
      await tx.query('INSERT INTO orders VALUES (1), (1)')
      return keep()
    }
    await expect(effect(ledger, claim, { work })).rejects.toMatchObject({ code: '23505' })
    expect(await scene.effects(claim.key)).toBe(0)
    await expectKept(ledger, claim)
  })

  it('needs no key', async () => {
    const ledger = scene.ledger()
    const before = await scene.effects('no key')
    expect(await effect(ledger, null)).toBe('recorded')
    expect(
      await effect(ledger, null, { work: () => ({ kind: 'recorded', writes: 'rolled-back', answer: answer('no') }) }),
    ).toBe('recorded')
    expect(await effect(ledger, null, { work: () => ({ kind: 'released' }) })).toBe('released')
    await expect(effect(ledger, null, { work: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
    expect(await scene.effects('no key')).toBe(before + 1)
  })
})

describe('while an effect runs', () => {
  it('a duplicate is answered at once', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 0 })
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, claim, { work })
    await begun
    const duplicate = await found(ledger, claim)
    expect(duplicate).toMatchObject({ owner: 'alive', entry: { state: 'running', inEffect: true } })
    expect(await ledger.takeOver(duplicate.entry, draft({ key: claim.key }))).toBeUndefined()
    goOn()
    expect(await running).toBe('recorded')
  })

  it('a duplicate is answered at once although the answer is written and only the commit is missing', async () => {
    const ledger = scene.ledger()
    const client = await scene.pool().connect()
    const claim = await claimed(ledger)
    await client.query('BEGIN')
    expect(await effect(ledger, claim, { options: { transaction: client } })).toBe('uncommitted')
    const duplicate = await found(ledger, claim)
    expect(duplicate).toMatchObject({ owner: 'alive', entry: { state: 'running' } })
    await client.query('COMMIT')
    client.release()
    expect((await found(ledger, claim)).entry.state).toBe('done')
  })

  it('its lease may be renewed, and nobody waits', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, claim, { work })
    await begun
    expect(await ledger.renew(claim, { leaseMs: 1000, now: 0 })).toBe(true)
    goOn()
    expect(await running).toBe('recorded')
  })

  it('the look of a duplicate keeps nobody from renewing, recording or looking', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 1000 })
    // What a duplicate takes for the length of its look, for longer.
    const looking = await scene.pool().connect()
    await looking.query('BEGIN')
    await looking.query('SELECT FROM holdfast_entries WHERE key = $1 FOR KEY SHARE', [claim.key])
    expect(await ledger.renew(claim, { leaseMs: 1_000_000, now: 0 })).toBe(true)
    const { entry, owner } = await found(ledger, claim)
    expect(entry.leaseUntil - entry.createdAt).toBeGreaterThanOrEqual(1_000_000)
    expect(owner).toBe('unsure')
    expect(await ledger.complete(claim, answer('done'), 0)).toBe(true)
    await looking.query('ROLLBACK')
    looking.release()
  })
})

describe('a backend that is killed within an effect', () => {
  it('leaves the key to the next one when the lease of the effect is over', async () => {
    const proxy = await cuttingProxy(scene.url)
    const [ledger, other] = [scene.ledger({ connectionString: proxy.url }), scene.ledger()]
    const claim = await claimed(ledger)
    const { work, begun } = heldWork()
    const dying = effect(ledger, claim, { work, effectLeaseMs: 500 }).catch((error: unknown) => error)
    await begun
    expect((await found(other, claim)).owner).toBe('alive')
    // As if its process had died: nothing that it does reaches the database any more.
    proxy.setDown(true)
    expect(await dying).toBeInstanceOf(StorageError)
    await expect.poll(async () => (await found(other, claim)).owner).toBe('unsure')
    await expect.poll(async () => isLapsed(await found(other, claim))).toBe(true)
    const left = await found(other, claim)
    expect(left.entry).toMatchObject({ state: 'running', inEffect: true })
    const next = await other.takeOver(left.entry, draft({ key: claim.key }))
    expect(next?.attempt).toBe(2)
    expect(next && (await effect(other, next))).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(other, claim)).entry.state).toBe('done')
    await proxy.close()
  })

  it('fails at once, although the work goes on, and its process keeps the claim with a whole lease', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const { work, begun, goOn } = heldWork()
    const dying = effect(ledger, claim, { work, effectLeaseMs: 1000, leaseMs: 60_000 }).catch((error: unknown) => error)
    await scene.terminate(await begun)
    expect(await dying).toBeInstanceOf(StorageError)
    await expectKept(ledger, claim, { forMs: 60_000 })
    goOn()
    expect(await scene.effects(claim.key)).toBe(0)
    expect(await ledger.release(claim)).toBe(true)
  })
})

describe('one connection', () => {
  it('is enough for everything that one request needs, and for others meanwhile', async () => {
    const ledger = scene.ledger({ max: 1, connectionTimeoutMillis: 5000 })
    const claim = await claimed(ledger)
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, claim, { work })
    await begun
    // The effect holds the one connection of the application.
    const duplicate = ledger.insert(draft({ key: claim.key }))
    expect(await ledger.renew(claim, { leaseMs: 1000, now: 0 })).toBe(true)
    expect((await ledger.find(claim.scope, claim.key))?.state).toBe('running')
    goOn()
    expect([await running, (await duplicate).kind]).toEqual(['recorded', 'found'])
    const throwing = await claimed(ledger)
    await expect(effect(ledger, throwing, { work: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
    expect(await ledger.release(throwing)).toBe(true)
    expect(await effect(ledger, await claimed(ledger, { key: throwing.key }))).toBe('recorded')
    expect(await ledger.reap({ limit: 10, now: 0 })).toMatchObject({ abandoned: 0 })
  })

  it('is not lost to effects that fail', async () => {
    const ledger = scene.ledger({ max: 1, connectionTimeoutMillis: 5000 })
    for (let round = 0; round < 5; round++) {
      const claim = await claimed(ledger)
      const { work, begun, goOn } = heldWork()
      const dying = effect(ledger, claim, { work }).catch((error: unknown) => error)
      await scene.terminate(await begun)
      goOn()
      expect(await dying).toBeInstanceOf(StorageError)
    }
    expect(await effect(ledger, await claimed(ledger))).toBe('recorded')
  })
})

describe('transactions that collide', () => {
  const counters = async () => {
    await scene.query('CREATE TABLE IF NOT EXISTS counters (id integer PRIMARY KEY, value integer NOT NULL)')
    await scene.query('INSERT INTO counters VALUES (1, 0), (2, 0) ON CONFLICT (id) DO UPDATE SET value = 0')
  }

  it.each(['read committed', 'repeatable read', 'serializable'] as const)(
    'are at the level %s that was asked for',
    async (isolation) => {
      const ledger = scene.ledger()
      const claim = await claimed(ledger)
      const levels: unknown[] = []
      const work = async (tx: PgTransaction) => {
        levels.push((await tx.query('SHOW transaction_isolation')).rows[0])
        return keep()
      }
      expect(await effect(ledger, claim, { work, options: { isolation } })).toBe('recorded')
      expect(levels).toEqual([{ transaction_isolation: isolation }])
    },
  )

  it('are rolled back, and the claim is kept, if the work sees it', async () => {
    await counters()
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const work = async (tx: PgTransaction) => {
      await tx.query('SELECT value FROM counters WHERE id = 1')
      await scene.query('UPDATE counters SET value = 10 WHERE id = 1')
      await tx.query('UPDATE counters SET value = value + 1 WHERE id = 1')
      return keep()
    }
    const colliding = effect(ledger, claim, { work, options: { isolation: 'repeatable read' } })
    await expect(colliding).rejects.toMatchObject({ code: '40001' })
    expect(await scene.effects(claim.key)).toBe(0)
    await expectKept(ledger, claim)
  })

  it('are rolled back, and the claim is kept, if only the commit shows it', async () => {
    await counters()
    const ledger = scene.ledger()
    const claims = [await claimed(ledger), await claimed(ledger)]
    const skew = (read: number, write: number) => async (tx: PgTransaction) => {
      await tx.query('SELECT value FROM counters WHERE id = $1', [read])
      await tx.query('UPDATE counters SET value = value + 1 WHERE id = $1', [write])
      await new Promise((resolve) => both.push(resolve as () => void) === 2 && both.map((go) => go()))
      return keep()
    }
    const both: (() => void)[] = []
    const options = { isolation: 'serializable' } as const
    const ends = await Promise.allSettled(
      claims.map((claim, index) => effect(ledger, claim, { work: skew(index + 1, 2 - index), options })),
    )
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const loser = claims[ends.findIndex(({ status }) => status === 'rejected')]
    const reason = ends.find((end) => end.status === 'rejected')?.reason
    expect(reason).toBeInstanceOf(StorageError)
    expect(reason.message).toMatch(/serialize.*40001/)
    expect(loser && (await scene.effects(loser.key))).toBe(0)
    await expectKept(ledger, loser as Claim)
  })

  it('are rolled back, and the claim is kept, in a deadlock', async () => {
    await counters()
    const ledger = scene.ledger()
    const claims = [await claimed(ledger), await claimed(ledger)]
    const both: (() => void)[] = []
    const cross = (first: number, second: number) => async (tx: PgTransaction) => {
      await tx.query('UPDATE counters SET value = value + 1 WHERE id = $1', [first])
      await new Promise((resolve) => both.push(resolve as () => void) === 2 && both.map((go) => go()))
      await tx.query('UPDATE counters SET value = value + 1 WHERE id = $1', [second])
      return keep()
    }
    const ends = await Promise.allSettled(
      claims.map((claim, index) => effect(ledger, claim, { work: cross(index + 1, 2 - index) })),
    )
    expect(ends.find((end) => end.status === 'rejected')?.reason).toMatchObject({ code: '40P01' })
    const states = await Promise.all(claims.map((claim) => ledger.find(claim.scope, claim.key)))
    expect(states.map((entry) => entry?.state ?? 'absent').sort()).toEqual(['done', 'running'])
  })

  it('refuses a level that does not exist', async () => {
    const ledger = scene.ledger()
    const isolation = 'snapshot; DROP TABLE charges' as 'serializable'
    await expect(effect(ledger, await claimed(ledger), { options: { isolation } })).rejects.toThrow(ConfigurationError)
  })
})

/** Running under the same claim, whose handler has not begun an effect, for a whole lease. */
async function expectKept(ledger: PgLedger, claim: Claim, { forMs = 0 } = {}): Promise<void> {
  const { entry, owner, now } = await found(ledger, claim)
  expect(entry).toMatchObject({ state: 'running', token: claim.token, inEffect: false, answer: null })
  expect(owner).toBe('unsure')
  if (forMs > 0) expect(entry.leaseUntil - now).toBeGreaterThan(forMs / 2)
}

function isLapsed({ entry, now }: FoundEntry): boolean {
  return entry.leaseUntil <= now
}
