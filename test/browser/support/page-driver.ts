/**
 * The part of a test that runs in the page: makes clients, calls, and tells how it went. All that goes in and out is
 * JSON, because it crosses over to the test's process.
 */
import {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type HoldfastEvent,
  isHoldfastError,
  memoryJournal,
  type OperationHandle,
  type OperationsQuery,
  type ResumeOptions,
  type ResumeReport,
  type SettledStatus,
} from '../../../src/index.ts'
import type { IndexedDbJournalOptions } from '../../../src/indexeddb/index.ts'
import { fastClock } from '../../support/fast-clock.ts'

/** What a client can be given from outside of the page. */
export interface PageClientOptions
  extends Pick<
    ClientOptions,
    | 'attemptTimeout'
    | 'baseUrl'
    | 'breaker'
    | 'budget'
    | 'credentials'
    | 'deadline'
    | 'dedupWindow'
    | 'doNotRetry'
    | 'horizon'
    | 'keyHeader'
    | 'maxBodyBytes'
    | 'maxResponseBytes'
    | 'namespace'
    | 'onGiveUp'
    | 'retention'
    | 'retry'
    | 'trustedOrigins'
  > {
  /** Default `'default'`: the one that the platform has. */
  readonly journal?: 'default' | 'default-or-memory' | 'memory' | 'indexeddb' | 'none'
  /** For `indexeddb`. */
  readonly indexedDb?: IndexedDbJournalOptions
  /** How far its clock is ahead: with more than a lease, what a dead runner held is free at once. */
  readonly laterMs?: number
  /** How many times as fast as the world's its clock goes. Clients of one journal have the same. */
  readonly speed?: number
  /** `headers` is a function that brings one after the other, and stays with the last. */
  readonly tokens?: readonly string[]
  /** The name of a cookie of the page: `session` reads it. */
  readonly sessionCookie?: string
  /** A name whose settlements the page takes, `'*'` for all. Default: it takes none. */
  readonly listen?: string
}

export interface PageCallOptions
  extends Pick<
    CallOptions,
    'json' | 'deadline' | 'attemptTimeout' | 'retry' | 'durable' | 'onGiveUp' | 'key' | 'id' | 'name' | 'metadata'
  > {
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type PageOutcome =
  | { readonly is: 'answered'; readonly status: number; readonly text: string }
  | {
      readonly is: 'failed'
      readonly name: string
      readonly message: string
      readonly code?: string
      readonly effect?: string
      readonly reason?: string | undefined
      readonly pending?: boolean
      readonly attempts?: number
    }

export interface PageSettlement {
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly status: SettledStatus
}

interface Call {
  readonly handle: OperationHandle
  readonly outcome: Promise<PageOutcome>
  readonly controller: AbortController
}

/** What a page may have before the driver is there: its handlers wait for it. */
const given = globalThis as { holdfastHandler?: (key: string) => Promise<void> }

const clients: Client[] = []
const calls: Call[] = []
const settlements: PageSettlement[] = []
const events: HoldfastEvent[] = []

function at<T>(list: readonly T[], number: number): T {
  const found = list[number]
  if (found === undefined) throw new Error(`The page has no number ${number}; was it loaded anew?`)
  return found
}

async function journalFor({ journal, indexedDb }: PageClientOptions): Promise<ClientOptions> {
  if (journal === 'memory') return { journal: memoryJournal() }
  if (journal === 'none') return { journal: false }
  if (journal === 'default-or-memory') return { journal: { fallback: 'memory' } }
  if (journal !== 'indexeddb') return {}
  const { indexedDbJournal } = await import('../../../src/indexeddb/index.ts')
  return { journal: indexedDbJournal(indexedDb) }
}

function cookie(name: string): string {
  return new RegExp(`(?:^|; )${name}=([^;]*)`).exec(document.cookie)?.[1] ?? ''
}

function bearer(tokens: string[]): () => Record<string, string> {
  return () => ({ authorization: `Bearer ${tokens.length > 1 ? tokens.shift() : tokens[0]}` })
}

async function outcomeOf(handle: OperationHandle): Promise<PageOutcome> {
  try {
    const response = await handle
    return { is: 'answered', status: response.status, text: await response.text() }
  } catch (error) {
    const { name, message } = error as Error
    if (!isHoldfastError(error)) return { is: 'failed', name, message }
    const { code, effect, reason, pending, attempts } = error
    return { is: 'failed', name, message, code, effect, reason, pending, attempts: attempts.length }
  }
}

export const driver = {
  /** Gives the client's number. Settlements and events of all clients are kept for the test to read. */
  async createClient(wanted: PageClientOptions): Promise<number> {
    const { journal, indexedDb, tokens, listen, laterMs, speed, sessionCookie, ...options } = wanted
    const client = createClient({
      ...options,
      ...(await journalFor(wanted)),
      ...(sessionCookie && { session: () => cookie(sessionCookie) }),
      ...(tokens && { headers: bearer([...tokens]) }),
      clock: fastClock(wanted.speed ?? 1, wanted.laterMs),
      observe: (event) => void events.push(event),
    })
    if (listen)
      client.onSettled(listen, ({ operation: { key, id, name }, status }) => {
        settlements.push({ key, id: id ?? undefined, name: name ?? undefined, status })
        return given.holdfastHandler?.(key)
      })
    return clients.push(client) - 1
  },
  /** Starts a call; gives its number and its key. */
  start(client: number, request: { method: string; url: string; options: PageCallOptions }): [number, string] {
    const controller = new AbortController()
    const options = { ...request.options, signal: controller.signal }
    const handle = at(clients, client).request(request.method, request.url, options)
    // What `accepted` says is asked for when the test wants it; until then it is nobody's business.
    handle.accepted.catch(() => {})
    return [calls.push({ handle, controller, outcome: outcomeOf(handle) }) - 1, handle.key]
  },
  accepted: (call: number): Promise<string> => at(calls, call).handle.accepted,
  outcome: (call: number): Promise<PageOutcome> => at(calls, call).outcome,
  /** Aborts, and gives the outcome with the time that it took to come. */
  async abort(call: number): Promise<PageOutcome & { readonly afterMs: number }> {
    const { controller, outcome } = at(calls, call)
    const start = performance.now()
    controller.abort(new DOMException('Changed my mind', 'AbortError'))
    return { ...(await outcome), afterMs: performance.now() - start }
  },
  resume: (client: number, options: Omit<ResumeOptions, 'signal'>): Promise<ResumeReport> =>
    at(clients, client).resume(options),
  /** Resumes until the page ends. */
  keepResuming(client: number): void {
    at(clients, client)
      .resume({ continuous: true })
      .catch(() => {})
  },
  async status(client: number, keyOrId: string): Promise<string | undefined> {
    const found = await at(clients, client).operation(keyOrId)
    found?.result.catch(() => {})
    return found?.status
  },
  async keys(client: number, query: OperationsQuery = {}): Promise<string[]> {
    const keys: string[] = []
    for await (const { key } of at(clients, client).operations(query)) keys.push(key)
    return keys
  },
  cancel: async (client: number, keyOrId: string): Promise<void> => void (await at(clients, client).cancel(keyOrId)),
  forget: async (client: number): Promise<void> => void (await at(clients, client).forget()),
  flush: (client: number): Promise<void> => at(clients, client).flush(),
  close: (client: number): Promise<void> => at(clients, client).close(),
  settlements: (): PageSettlement[] => settlements,
  events: (): string[] => events.map(({ type }) => type),
}

export type Driver = typeof driver

Object.assign(globalThis, { holdfastDriver: driver })
