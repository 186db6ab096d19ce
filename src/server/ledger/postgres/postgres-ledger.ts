import { checkPostgresPlace } from '../../../sql/migrated-pool.ts'
import type { PostgresClient, PostgresPool } from '../../../sql/postgres-driver.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import type { LedgerStore } from '../port.ts'
import { LedgerPool } from './ledger-pool.ts'
import { ledgerTables } from './ledger-tables.ts'
import { PostgresStore } from './postgres-store.ts'

/** Where the ledger's tables are. One of `pool` and `connectionString`. */
export interface PostgresLedgerOptions<Pool extends PostgresPool = PostgresPool> {
  /** A pool of the package pg, which stays yours: the ledger never ends it. One connection is enough. */
  readonly pool?: Pool | undefined
  /** For a pool of the ledger's own, ended by `close`. Needs the package pg. */
  readonly connectionString?: string | undefined
  /**
   * The schema of the tables, made where there is none.
   * @default 'holdfast'
   */
  readonly schema?: string | undefined
  /**
   * Makes and changes the tables on first use. `false`: they are there already, by `migratePostgresLedger`.
   * @default true
   */
  readonly migrate?: boolean | undefined
  /**
   * Refuses to work where a confirmed commit may be lost by a failover: on a server that is in recovery, that has no
   * `synchronous_standby_names`, or where the role's `synchronous_commit` is `off` or `local`. Each commit asks again, and one that
   * did not wait for a standby to the end is in doubt.
   * @default false
   */
  readonly requireSynchronousStandby?: boolean | undefined
}

/** What an effect writes with: a client of the pool that was given. The ledger itself gives it back to the pool. */
export type PostgresTransaction<Pool extends PostgresPool = PostgresPool> = Omit<ClientOf<Pool>, 'release'>

/** The driver's `connect` has an overload with a callback, which stands last. */
type ClientOf<Pool> = Pool extends {
  readonly connect: { (): Promise<infer Client>; (callback: infer _Callback): void }
}
  ? Client
  : PostgresClient

/**
 * A ledger in Postgres, for any number of replicas. Its tables are made on first use.
 *
 * @example createLedger({ store: postgresLedger({ pool: new pg.Pool() }), scope: tenantOf })
 */
export function postgresLedger<Pool extends PostgresPool = PostgresPool>(
  options: PostgresLedgerOptions<Pool>,
): LedgerStore<PostgresTransaction<Pool>, EffectReturn> {
  checkPostgresPlace('postgresLedger', options)
  return new PostgresStore<PostgresTransaction<Pool>>(options)
}

/**
 * Makes the ledger's tables, or brings them up to date: for a role that may create them, where the application's may not.
 *
 * @example await migratePostgresLedger({ connectionString: process.env.ADMIN_URL })
 */
export async function migratePostgresLedger(options: Omit<PostgresLedgerOptions, 'migrate'>): Promise<void> {
  checkPostgresPlace('postgresLedger', options)
  const pool = new LedgerPool({ ...options, migrate: true }, ledgerTables(options.schema ?? 'holdfast'))
  try {
    await pool.get()
  } finally {
    await pool.close()
  }
}
