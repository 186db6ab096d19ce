import type { createClient, memoryJournal } from '../../../src/index.ts'
import { bringKeys } from './bring-key.ts'
import { ATTEMPTS, type Mode } from './modes.ts'
import type { ParityCase } from './parity-case.ts'
import { type Fetch, Scene, type SceneServers, type Sight } from './scene.ts'
import { errorSight, pause } from './sight.ts'

/** What is looked at: one of the modes, or the platform's own fetch, with or without keys. */
export type Subject = Mode | 'platform' | 'platform-keyed'

export interface World extends SceneServers {
  readonly platform: Fetch
  readonly library: { readonly createClient: typeof createClient; readonly memoryJournal: typeof memoryJournal }
}

/** One run of a case, and the name under which the servers know it. */
export interface Turn {
  readonly subject: Subject
  readonly ticket: string
}

export interface Run {
  readonly sight: Sight
  /** How many requests brought a key. */
  readonly keys: number
}

/** Longer than anything that a case waits for by itself. */
const HUNG_MS = 10_000

const PASS_THROUGH = {
  journal: false,
  retry: false,
  breaker: false,
  budget: false,
  doNotRetry: { send: false, attempt: false, timeout: false, firstSent: false },
} as const

/** Runs a case once. */
export async function runCase(parityCase: ParityCase, turn: Turn, world: World): Promise<Run> {
  const { subject, ticket } = turn
  const client = clientFor(subject, world)
  const fetch = client?.fetch ?? world.platform
  const keyed = subject === 'keyed' || subject === 'platform-keyed' ? bringKeys(fetch as Fetch) : undefined
  const scene = new Scene(keyed?.fetch ?? (fetch as Fetch), ticket, world)
  if (subject === 'installed') globalThis.fetch = scene.fetch
  try {
    const hung = pause(HUNG_MS).then(() => 'did not end')
    const sight = await Promise.race([parityCase.run(scene).catch((error) => ({ threw: errorSight(error) })), hung])
    return { sight, keys: keyed?.keys() ?? 0 }
  } finally {
    globalThis.fetch = world.platform
    client?.close().catch(() => {})
  }
}

function clientFor(subject: Subject, { library }: World): ReturnType<typeof createClient> | undefined {
  if (subject === 'platform' || subject === 'platform-keyed') return undefined
  if (subject === 'pass-through') return library.createClient(PASS_THROUGH)
  return library.createClient({
    journal: library.memoryJournal(),
    retry: { base: 1, cap: 2, maxAttempts: ATTEMPTS },
    // Many cases fail at one server on purpose; in a page their clients would tell each other.
    budget: false,
    breaker: false,
  })
}
