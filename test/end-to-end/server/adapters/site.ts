import type { AddressInfo } from 'node:net'
import { HTTPException } from 'hono/http-exception'
import {
  createLedger,
  type IdempotencyContext,
  type Ledger,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
} from '../../../../src/server/index.ts'
import type { Got, Sent } from '../caller.ts'
import type { Said } from '../forms.ts'

/** Real middleware, as each framework has it. */
export type Middleware = 'session' | 'late header' | 'compression' | 'security' | 'timeout' | 'parser' | 'form'

/** A request, as the work of every adapter sees it. */
export interface Exchange {
  readonly context: IdempotencyContext
  readonly body: string
  /** The contents of the files of a form. */
  readonly files: readonly string[]
  header(name: string, value: string): void
  cookie(name: string, value: string): void
}

/** An answer, and what is sent after it in vain. */
export interface Sayings extends Said {
  readonly again?: Said
}

export type Work = (exchange: Exchange) => Promise<Sayings | undefined>

/** A service, described without naming its framework. */
export interface Site {
  readonly work: Work
  readonly external?: boolean
  /** In front of the ledger. */
  readonly front?: readonly Middleware[]
  /** Between the ledger and the work. */
  readonly behind?: readonly Middleware[]
  readonly options?: Partial<LedgerOptions<MemoryTransaction>>
}

export interface Listening {
  readonly origin: string
  close(): Promise<void>
  /** Over HTTP/1, unless said. */
  readonly call?: (sent: Sent) => Promise<Got>
}

/** How one adapter builds the service. */
export type Serve = (site: Site, ledger: AnyLedger) => Promise<Listening>

export type AnyLedger = Ledger<never, unknown, unknown>

export interface Scene extends Listening {
  readonly ledger: AnyLedger
  readonly events: LedgerEvent['type'][]
  state(key?: string): Promise<string>
}

export async function open(serve: Serve, site: Site, store = memoryLedger()): Promise<Scene> {
  const events: LedgerEvent['type'][] = []
  const observe = ({ type }: LedgerEvent): void => void events.push(type)
  const ledger = createLedger({ store, scope: 'public', observe, ...site.options, authorize: undefined } as never)
  const listening = await serve(site, ledger as unknown as AnyLedger)
  const state = async (key = 'k'): Promise<string> => (await ledger.find('public', key))?.state ?? 'absent'
  return { ...listening, ledger: ledger as unknown as AnyLedger, events, state }
}

/** An error that every framework makes an answer with this status of. */
export function refused(status: number): Error {
  return Object.assign(new HTTPException(status as 402, { message: `refused ${status}` }), { statusCode: status })
}

/** How long middleware waits for an answer before it gives its own. */
export const TIMEOUT_MS = 50

interface Listener {
  listen(port: number, host: string, done: () => void): unknown
  address(): AddressInfo | string | null
  close(done: () => void): unknown
}

export async function listenOn(server: Listener, end: () => void): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    end()
    await new Promise<void>((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}
