// The Postgres at PG_URL, or one that lives as long as this run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export async function startBenchPostgres() {
  if (process.env.PG_URL) return { url: process.env.PG_URL, stop: async () => {} }
  const program = fileURLToPath(new URL('../../support/postgres-keeper.mjs', import.meta.url))
  const keeper = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = once(keeper, 'exit')
  const stop = async () => {
    keeper.stdin.end()
    await ended
  }
  const [line] = await once(createInterface({ input: keeper.stdout }), 'line')
  const { url, failure } = JSON.parse(line)
  if (url) return { url, stop }
  await stop()
  throw new Error(`No Postgres could be started: ${failure}`)
}
