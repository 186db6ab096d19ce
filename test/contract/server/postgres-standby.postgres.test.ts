import { afterEach, describe, expect, it, vi } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { claimed, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()
afterEach(() => void vi.useRealTimers())

/**
 * The server of the tests has no standby. On these connections its setting is what a function says that is found before
 * the server's own.
 */
async function pretend(standbys: string): Promise<void> {
  await scene.query(`CREATE OR REPLACE FUNCTION ${scene.schema}.current_setting(name text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE name WHEN 'synchronous_standby_names' THEN '${standbys}' ELSE pg_catalog.current_setting(name) END $$`)
}

function ledgerOn(settings: string): PgLedger {
  const pool = scene.pool({ max: 1, options: settings })
  return postgresLedger({ pool, schema: scene.schema, requireSynchronousStandby: true })
}

const PRETENDING = `-c search_path=${scene.schema},pg_catalog`

describe('a ledger that requires a synchronous standby', () => {
  it('refuses a server that has none, and says what to set', async () => {
    const ledger = ledgerOn('')
    await expect(claimed(ledger)).rejects.toThrow(StorageError)
    await expect(claimed(ledger)).rejects.toThrow(/synchronous_standby_names is empty.*requireSynchronousStandby/)
  })

  it('refuses a role that does not wait for it', async () => {
    await expect(claimed(ledgerOn('-c synchronous_commit=local'))).rejects.toThrow("synchronous_commit is 'local'")
    await expect(claimed(ledgerOn('-c synchronous_commit=off'))).rejects.toThrow("synchronous_commit is 'off'")
  })

  it('works with one that has it, and is asked again where it was refused', async () => {
    await pretend('')
    const ledger = ledgerOn(PRETENDING)
    await expect(claimed(ledger)).rejects.toThrow('has no synchronous standby')
    await pretend('ANY 1 (*)')
    await claimed(ledger)
    await ledger.close()
  })

  it('looks again after a reconnection, once a minute at most', async () => {
    await pretend('ANY 1 (*)')
    const pool = scene.pool({ max: 1, options: PRETENDING })
    const ledger = postgresLedger({ pool, schema: scene.schema, requireSynchronousStandby: true })
    await claimed(ledger)
    await pretend('')
    const reconnect = async (): Promise<void> => {
      const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await scene.terminate(rows[0]?.pid ?? 0)
      await expect.poll(() => pool.totalCount).toBe(0)
      await pool.query('SELECT 1')
    }
    await reconnect()
    await claimed(ledger)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    await expect(claimed(ledger)).rejects.toThrow('has no synchronous standby')
    await pretend('ANY 1 (*)')
    await claimed(ledger)
    await pretend('')
    // No new connection since.
    vi.setSystemTime(Date.now() + 600_000)
    await claimed(ledger)
    const watched = pool.listenerCount('connect')
    await ledger.close()
    // The pool stays guarded against connections that die.
    expect(pool.listenerCount('connect')).toBe(watched - 1)
  })

  it('is an option that is true or false', () => {
    expect(() => postgresLedger({ pool: scene.pool(), requireSynchronousStandby: 1 as never })).toThrow(
      'The option `requireSynchronousStandby` of postgresLedger() is true or false',
    )
  })
})
