// The Postgres at PG_URL, or one that lives as long as this run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** `isOurs`: its settings may be changed. */
export async function startBenchPostgres() {
  if (process.env.PG_URL) return { url: process.env.PG_URL, stop: async () => {}, isOurs: false }
  const program = fileURLToPath(new URL('../../support/postgres-keeper.mjs', import.meta.url))
  const keeper = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = once(keeper, 'exit')
  const stop = async () => {
    keeper.stdin.end()
    await ended
  }
  const [line] = await once(createInterface({ input: keeper.stdout }), 'line')
  const { url, failure } = JSON.parse(line)
  if (url) return { url, stop, isOurs: true }
  await stop()
  throw new Error(`No Postgres could be started: ${failure}`)
}

/** Commits don't wait for the disk from now on: what is left is the price of the work itself. */
export async function stopSyncing(url) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('ALTER SYSTEM SET fsync = off')
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}
