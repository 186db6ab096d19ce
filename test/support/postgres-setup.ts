import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the Postgres of this run is. */
    postgresUrl: string
  }
}

/** Once for all files, before the first: the Postgres at PG_URL, or one that lives as long as this run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.PG_URL
  const postgres = given ? { url: given, stop: async () => {} } : await startPostgres()
  project.provide('postgresUrl', postgres.url)
  return postgres.stop
}

export interface RunningPostgres {
  readonly url: string
  /** Stops it, with all its connections, and starts it again with the same data and port. */
  restart(): Promise<void>
  /** Resolves when its process and its data are gone. */
  stop(): Promise<void>
}

/** One of our own, gone with this process at the latest. */
export async function startPostgres(): Promise<RunningPostgres> {
  const keeper = spawn(process.execPath, [fileURLToPath(new URL('postgres-keeper.mjs', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C is for the run. The keeper goes in order, when the run is gone.
    detached: true,
  })
  const ended = once(keeper, 'exit')
  const stop = async () => {
    keeper.stdin.end()
    await ended
  }
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string | undefined> => (await lines.next()).value
  const said = await Promise.race([nextLine(), ended.then(() => undefined)])
  const { url, failure } = JSON.parse(said || '{}') as { url?: string; failure?: string }
  const restart = async () => {
    keeper.stdin.write('restart\n')
    if (!(await nextLine())) throw new Error('Postgres did not come back after a restart')
  }
  if (url) return { url, restart, stop }
  await stop()
  throw new Error(
    `The tests need a Postgres: none could be started (${failure ?? 'no reason given'}). Set PG_URL to use your own`,
  )
}
