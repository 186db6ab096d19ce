// A Postgres of our own that lives as long as this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const KEEPER = fileURLToPath(new URL('../../test/support/postgres-keeper.mjs', import.meta.url))

export async function startDatabase() {
  // It stops Postgres and removes its data as soon as its standard input ends, however this process ends.
  const keeper = spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = once(keeper, 'exit')
  const [line] = await once(createInterface({ input: keeper.stdout }), 'line')
  const { url, failure } = JSON.parse(line)
  if (!url) throw new Error(`No Postgres could be started: ${failure}`)
  const stop = async () => {
    keeper.stdin.end()
    await ended
  }
  return { url, stop }
}
