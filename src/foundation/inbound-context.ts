import { AsyncLocalStorage } from 'node:async_hooks'

/** What the request that is being served asks of every call made for it. */
export interface InboundContext {
  /** The caller of this service retries itself: make one attempt only. */
  readonly doNotRetry: boolean
  /** Epoch milliseconds after which the caller of this service waits no more. */
  readonly deadlineAt: number | undefined
}

type Storage = AsyncLocalStorage<InboundContext | undefined>

/** Copies of the package in different versions share it: the shape of what is kept under this name never changes. */
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
  /** For background work, which belongs to no request that is being served. */
  outside: <T>(work: () => T): T => storage().run(undefined, work),
}
