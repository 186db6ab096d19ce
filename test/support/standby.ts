import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type RunningPostgres, startPostgres } from './postgres-setup.ts'

/** What a client of pg has below it, as far as a replication connection needs it. */
interface Wire {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  once(event: 'replicationStart', listener: () => void): void
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void
}

/**
 * A standby as the primary sees one: it receives the log and confirms each piece, and keeps nothing. `stop` ends it as a
 * crash does.
 */
export interface Standby {
  stop(): Promise<void>
}

export async function startStandby(url: string): Promise<Standby> {
  const client = new pg.Client({ connectionString: url, application_name: 'standby', replication: 'true' } as object)
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('IDENTIFY_SYSTEM')
  const { xlogpos, timeline } = rows[0] as { xlogpos: string; timeline: number }
  const wire = (client as unknown as { readonly connection: Wire }).connection
  wire.on('copyData', ({ chunk }) => {
    const received = receivedUpTo(chunk)
    if (received !== undefined) wire.sendCopyFromChunk(confirmation(received))
  })
  const started = new Promise<void>((resolve) => wire.once('replicationStart', resolve))
  wire.query(`START_REPLICATION PHYSICAL ${xlogpos} TIMELINE ${timeline}`)
  await started
  return { stop: () => client.end() }
}

/** The place in the log after a piece of it (`w`), or the end that the primary tells (`k`). */
function receivedUpTo(chunk: Buffer): bigint | undefined {
  const kind = String.fromCharCode(chunk[0] ?? 0)
  if (kind === 'k') return chunk.readBigUInt64BE(1)
  return kind === 'w' ? chunk.readBigUInt64BE(1) + BigInt(chunk.length - 25) : undefined
}

/** Written, flushed and applied up to there. */
function confirmation(place: bigint): Buffer {
  const message = Buffer.alloc(34)
  message.write('r')
  for (const at of [1, 9, 17]) message.writeBigUInt64BE(place, at)
  return message
}

/** A Postgres of one's own, because its settings are those of all its connections, and one standby of it. */
export interface ReplicatedScene {
  pool(options?: pg.PoolConfig): pg.Pool
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** `synchronous_standby_names`, reloaded without a reconnection. */
  require(names: string): Promise<void>
  /** From now on commits wait. */
  stopStandby(): Promise<void>
  startStandby(): Promise<void>
  /** Resolves when a commit waits for the standby. */
  waiting(): Promise<void>
  /** As an administrator does who wants to know why it hangs: Postgres commits, and says no more than a warning. */
  cancelWait(): Promise<void>
}

interface Wait {
  readonly pid: number
  readonly since: string
}

/** To be called at the top of a file. Each test begins with a standby that confirms. */
export function replicatedScene(): ReplicatedScene {
  let postgres: RunningPostgres
  let admin: pg.Pool
  let standby: Standby | undefined
  const pools: pg.Pool[] = []
  const query: ReplicatedScene['query'] = async (text, values) => (await admin.query(text, values)).rows
  const require: ReplicatedScene['require'] = async (names) => {
    await query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await query('SELECT pg_reload_conf()')
    const inForce = async () => (await query('SHOW synchronous_standby_names'))[0]?.synchronous_standby_names
    await expect.poll(inForce).toBe(names)
  }
  const startOne = async (): Promise<void> => {
    standby ??= await startStandby(postgres.url)
  }
  const waits = (where = 'true', values: unknown[] = []) =>
    query<Wait>(
      `SELECT pid, xact_start::text AS since FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND ${where}`,
      values,
    )
  const waiting = async (): Promise<Wait> => {
    await expect.poll(() => waits()).not.toEqual([])
    return (await waits())[0] as Wait
  }
  const cancelWait = async (): Promise<void> => {
    const { pid, since } = await waiting()
    await query('SELECT pg_cancel_backend($1)', [pid])
    await expect.poll(() => waits('pid = $1 AND xact_start = $2::timestamptz', [pid, since])).toEqual([])
  }

  beforeAll(async () => {
    postgres = await startPostgres()
    // It must not wait for the standby itself.
    admin = new pg.Pool({ connectionString: postgres.url, max: 2, options: '-c synchronous_commit=local' })
    admin.on('error', () => {})
  })
  beforeEach(async () => {
    await startOne()
    await require('ANY 1 (*)')
  })
  afterEach(async () => {
    await require('')
    // One that a failed test has left open is not waited for.
    for (const pool of pools.splice(0)) await Promise.race([pool.end(), pause(2000)])
  })
  afterAll(async () => {
    await standby?.stop()
    await admin?.end()
    await postgres?.stop()
  })
  return {
    query,
    require,
    cancelWait,
    waiting: () => waiting().then(() => {}),
    startStandby: startOne,
    stopStandby: async () => {
      await standby?.stop()
      standby = undefined
      await expect.poll(() => query('SELECT pid FROM pg_stat_replication')).toEqual([])
    },
    pool: (options) => {
      const pool = new pg.Pool({ connectionString: postgres.url, ...options }).on('error', () => {})
      pools.push(pool)
      return pool
    },
  }
}
