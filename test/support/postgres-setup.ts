import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
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

/** A disk for tables alone: the log of Postgres and all else is elsewhere. */
export interface TableDisk {
  /** An empty folder on it, for a tablespace. */
  readonly folder: string
  /** From now on no file on it can grow. */
  fill(): Promise<void>
  empty(): Promise<void>
}

export interface RunningPostgres {
  readonly url: string
  /** Stops it, with all its connections, and starts it again with the same data and port. */
  restart(): Promise<void>
  /** SIGKILL; starts it again with the same data and port. */
  kill(): Promise<void>
  /** Where it was asked for; else why there is none. */
  readonly disk: TableDisk | { readonly never: string }
  /** Resolves when its process and its data are gone. */
  stop(): Promise<void>
}

const KEEPER = fileURLToPath(new URL('postgres-keeper.mjs', import.meta.url))

/** Runs a program where what it mounts is seen by itself and its children only. */
const UNSHARED = ['unshare', '--mount', '--propagation', 'private'] as const

/** One of our own, gone with this process at the latest. */
export function startPostgres(): Promise<RunningPostgres> {
  return keepPostgres([process.execPath, KEEPER], 'it was not asked for')
}

/** One with a disk of its own for tables, where this machine lets us mount one. */
export async function startPostgresWithDisk(): Promise<RunningPostgres> {
  const never = await noDisk()
  if (never) return keepPostgres([process.execPath, KEEPER], never)
  return keepPostgres([...UNSHARED, process.execPath, KEEPER, 'own-disk'], '')
}

/** Why no disk can be mounted, in words; undefined where one can. */
async function noDisk(): Promise<string | undefined> {
  const [command, ...args] = [...UNSHARED, 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'holdfast', '/mnt']
  const trial = promisify(execFile)(command as string, args)
  return trial.then(
    () => undefined,
    (error: Error) => `a small disk can't be mounted here: ${error.message.trim().split('\n').at(-1)}`,
  )
}

async function keepPostgres([command, ...args]: readonly string[], never: string): Promise<RunningPostgres> {
  const keeper = spawn(command as string, args, {
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
  const { url, disk: folder, failure } = JSON.parse(said || '{}') as { url?: string; disk?: string; failure?: string }
  const order = async (name: string): Promise<void> => {
    keeper.stdin.write(`${name}\n`)
    const answer = JSON.parse((await nextLine()) ?? '{}') as { done?: string; failure?: string }
    if (answer.done !== name) throw new Error(`Postgres did not obey "${name}": ${answer.failure ?? 'it is gone'}`)
  }
  const disk = folder ? { folder, fill: () => order('fill'), empty: () => order('empty') } : { never }
  if (url) return { url, restart: () => order('restart'), kill: () => order('kill'), disk, stop }
  await stop()
  throw new Error(
    `The tests need a Postgres: none could be started (${failure ?? 'no reason given'}). Set PG_URL to use your own`,
  )
}
