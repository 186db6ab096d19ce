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
  const said = await Promise.race([firstLine(keeper.stdout), ended.then(() => undefined)])
  const { url, failure } = JSON.parse(said || '{}') as { url?: string; failure?: string }
  if (url) return { url, stop }
  await stop()
  throw new Error(
    `The tests need a Postgres: none could be started (${failure ?? 'no reason given'}). Set PG_URL to use your own`,
  )
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line
  return undefined
}
