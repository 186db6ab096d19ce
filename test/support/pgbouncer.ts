import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findProgram, type NeededProgram } from './find-program.ts'

const PGBOUNCER: NeededProgram = {
  title: 'PgBouncer',
  variable: 'PGBOUNCER_PATH',
  names: ['pgbouncer'],
  elsewhere: ['/usr/sbin/pgbouncer', '/usr/local/sbin/pgbouncer', '/opt/homebrew/bin/pgbouncer'],
  debianPackage: 'pgbouncer',
  missing:
    'These tests need PgBouncer: install it (Debian: apt-get install pgbouncer), or set PGBOUNCER_PATH to its program',
}

const KEEPER = fileURLToPath(new URL('pgbouncer-keeper.mjs', import.meta.url))

export interface RunningPgBouncer {
  /** The same database, through it. */
  readonly url: string
  stop(): Promise<void>
}

export interface PgBouncerTerms {
  /** Of the Postgres behind it. */
  readonly url: string
  /** What each of its connections to Postgres says first: a client can't set anything that outlives its transaction. */
  readonly connectQuery?: string
}

/** One of our own in transaction mode, gone with this process at the latest. */
export async function startPgBouncer(terms: PgBouncerTerms): Promise<RunningPgBouncer> {
  const input = JSON.stringify({ program: await findProgram(PGBOUNCER), ...terms })
  const keeper = spawn(process.execPath, [KEEPER, input], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = once(keeper, 'exit')
  const stop = async () => {
    keeper.stdin.end()
    await ended
  }
  const [said] = (await Promise.race([once(createInterface({ input: keeper.stdout }), 'line'), ended])) as [unknown]
  const { port, failure } = JSON.parse(typeof said === 'string' ? said : '{}') as { port?: number; failure?: string }
  if (!port) {
    await stop()
    throw new Error(`PgBouncer could not be started: ${failure ?? 'no reason given'}`)
  }
  const through = new URL(terms.url)
  through.host = `127.0.0.1:${port}`
  return { url: through.href, stop }
}
