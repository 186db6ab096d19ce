import { AsyncLocalStorage } from 'node:async_hooks'

/** What the request that is being served asks of every call made for it. */
export interface InboundContext {
  /** Whoever is outside retries: make one attempt only. */
  readonly doNotRetry: boolean
  /** Epoch milliseconds after which nobody waits for the answer any more. */
  readonly deadlineAt: number | undefined
}

type Storage = AsyncLocalStorage<InboundContext | undefined>

/** Part of what versions say to each other: what is kept under this name never changes its shape. */
const NAME = Symbol.for('holdfast.inbound-context')

/** One for the whole process: a server from one copy of the library and a client from another must meet in it. */
function storage(): Storage {
  const shared = globalThis as { [NAME]?: Storage }
  if (!shared[NAME]) Object.defineProperty(shared, NAME, { value: new AsyncLocalStorage() })
  return shared[NAME] as Storage
}

export const inboundContext = {
  current: (): InboundContext | undefined => storage().getStore(),
  run: <T>(context: InboundContext, work: () => T): T => storage().run(context, work),
  /** For work that nobody who is being served waits for. */
  outside: <T>(work: () => T): T => storage().run(undefined, work),
}
