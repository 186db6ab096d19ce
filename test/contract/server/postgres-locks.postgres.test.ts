import { describe, expect, it } from 'vitest'
import { claimed, effect, heldWork, keep, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

interface Lock {
  readonly locktype: string
  readonly mode: string
}

/** What every reader and writer of a table has: it collides with no other reader or writer. */
const SHARED = ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock']

/** The locks of the transaction that asks, without the one on its own number. */
const OWN_LOCKS = `SELECT locktype, mode FROM pg_locks
  WHERE pid = pg_backend_pid() AND locktype NOT IN ('virtualxid', 'transactionid')`

describe('an effect', () => {
  it('holds no lock beside those on its rows: none on a table, and no advisory lock', async () => {
    const ledger = scene.ledger()
    const locks: Lock[] = []
    await effect(ledger, await claimed(ledger), {
      work: async (tx) => {
        locks.push(...(await tx.query<Lock>(OWN_LOCKS)).rows)
        return keep()
      },
    })
    expect(locks.length).toBeGreaterThan(0)
    expect(locks.filter(({ locktype, mode }) => locktype !== 'relation' || !SHARED.includes(mode))).toEqual([])
  })

  it('keeps no other key waiting', async () => {
    const ledger = scene.ledger()
    const { work, begun, goOn } = heldWork()
    const running = effect(ledger, await claimed(ledger), { work })
    await begun
    const others = scene.ledger({ max: 5, statement_timeout: 5000 })
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => effect(others, await claimed(others), { work: () => keep() })),
    )
    expect(new Set(outcomes)).toEqual(new Set(['recorded']))
    goOn()
    expect(await running).toBe('recorded')
  })
})
