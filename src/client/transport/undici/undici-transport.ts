import type { Agent, Dispatcher } from 'undici'
import type { DispatcherLike } from '../../options.ts'
import { abortedFault } from '../fault.ts'
import { toNodeFault } from '../node-fault.ts'
import type { Transport, TransportOutcome, TransportRequest } from '../port.ts'
import { firstHop } from '../redirect.ts'
import { Exchange } from './exchange.ts'
import { LegacyExchange } from './legacy-exchange.ts'

type Undici = typeof import('undici')

export interface UndiciTransportOptions {
  /** Stays the caller's: `close` leaves it alone. */
  readonly dispatcher?: DispatcherLike | undefined
}

/**
 * To one origin. Enough for a busy service; of what is more, the system's queue of new connections may be too short. Any
 * further request waits at its gate, where no attempt timeout runs, and not in the Agent.
 */
const CONNECTIONS = 1024

/** Requests below fetch: plain values in, plain values out. A tuned Agent, unless the application has its own. */
export function undiciTransport(
  options: UndiciTransportOptions = {},
): Required<Pick<Transport, 'send' | 'close' | 'connectionsTo'>> {
  const explicit = options.dispatcher as Dispatcher | undefined
  let own: Agent | undefined
  let closed = false
  const ownAgent = (undici: Undici): Agent => {
    own ??= createAgent(undici)
    if (closed) void own.close()
    return own
  }
  const send = (undici: Undici, request: TransportRequest): Promise<TransportOutcome> =>
    new Promise((resolve) => {
      const { signal } = request
      if (signal.aborted) return resolve(abortedFault(signal, { mayHaveArrived: false }))
      try {
        const given = explicit ?? applicationDispatcher()
        const dispatcher = given ?? ownAgent(undici)
        const sendsOnce = given === undefined || isPlainDispatcher(given)
        // A dispatcher of another copy of undici may call the handler's methods by their older names.
        const Handler = dispatcher instanceof undici.Dispatcher ? Exchange : LegacyExchange
        new Handler({ dispatcher, sendsOnce, request, resolve }, firstHop(request)).dispatch()
      } catch (error) {
        // A URL that can't be parsed, or a dispatcher that is none.
        resolve({ ...toNodeFault(error), mayHaveArrived: false, transient: false })
      }
    })
  return {
    send: (request) => (loaded ? send(loaded, request) : loadUndici().then((undici) => send(undici, request))),
    connectionsTo: () => ((explicit ?? applicationDispatcher()) ? Number.POSITIVE_INFINITY : CONNECTIONS),
    close: async () => {
      closed = true
      if (own) await closeAgent(own)
    },
  }
}

let loaded: Undici | undefined

/**
 * Loads undici when a call first needs it, and after Node's own fetch: loaded before, it makes its dispatcher that of
 * every fetch in the program, and another version of undici than Node's treats some requests differently.
 */
async function loadUndici(): Promise<Undici> {
  const module = await import('undici')
  noteDefaultDispatcher()
  loaded = module
  return module
}

/** Tuned for many small calls to few origins. */
function createAgent(undici: Undici): Agent {
  return new undici.Agent({
    connections: CONNECTIONS,
    // One request at a time on a connection: a broken one takes no other request with it.
    pipelining: 1,
    // Below what servers commonly allow, so that the idle connection is closed by us rather than under a request.
    keepAliveTimeout: 4_000,
    // The attempt's own timeout covers head and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    // A connection whose attempt has ended must not hang on for the minutes that the system gives it.
    connect: { timeout: 10_000 },
    allowH2: false,
  })
}

/** Idle connections go at once. A body that is still being read closes its connection when it has been read. */
async function closeAgent(agent: Agent): Promise<void> {
  if (agent.closed || agent.destroyed) return
  const busy = Object.values(agent.stats).some(({ running, pending }) => (running ?? 0) + (pending ?? 0) > 0)
  const closing = agent.close()
  if (!busy) await closing
}

/** Where all copies of undici, Node's own among them, keep the dispatcher of the program. */
const GLOBAL = Symbol.for('undici.globalDispatcher.1')

// Node loads its fetch, and makes its dispatcher, with the first of these classes that is looked at.
void globalThis.Response

/** Node's or undici's own default, which the application did not set. */
let platformDefault = untouchedDispatcher()

/** For a Node whose own undici keeps its dispatcher elsewhere: the one that undici has made as it was loaded. */
function noteDefaultDispatcher(): void {
  platformDefault ??= untouchedDispatcher()
}

/** The dispatcher that the application has set for all of its requests (a proxy, a mock), if it has. */
export function applicationDispatcher(): Dispatcher | undefined {
  const dispatcher = (globalThis as { [GLOBAL]?: Dispatcher })[GLOBAL]
  return dispatcher === platformDefault ? undefined : dispatcher
}

function untouchedDispatcher(): Dispatcher | undefined {
  const dispatcher = (globalThis as { [GLOBAL]?: Dispatcher })[GLOBAL]
  return dispatcher && isUntouchedAgent(dispatcher) ? dispatcher : undefined
}

/** The classes of undici whose handlers hear of each try, whichever copy of undici they are from. */
const PLAIN = /^((Mock|Proxy|EnvHttpProxy)?Agent|(Mock|Balanced|RoundRobin)?Pool|(Mock)?Client)$/

/** An interceptor, a RetryAgent or a dispatcher of the application's own may have sent a request without its handler's knowledge. */
function isPlainDispatcher(dispatcher: Dispatcher): boolean {
  return PLAIN.test(dispatcher.constructor.name) && !isComposed(dispatcher)
}

/** One with interceptors hides behind a Proxy, which shows another `dispatch` than its class has. */
function isComposed(dispatcher: Dispatcher): boolean {
  return dispatcher.dispatch !== Object.getPrototypeOf(dispatcher).dispatch
}

/**
 * An Agent as `new Agent()` makes it. Only asked for what was there before us: an application that has set such a
 * one gets the same connections from ours. What can't be recognised counts as set on purpose.
 */
function isUntouchedAgent(dispatcher: Dispatcher): boolean {
  if (dispatcher.constructor.name !== 'Agent' || isComposed(dispatcher)) return false
  const options = ownSymbolValue(dispatcher, 'options')
  const factory = ownSymbolValue(dispatcher, 'factory')
  if (typeof options !== 'object' || options === null || typeof factory !== 'function') return false
  return factory.name === 'defaultFactory' && Object.entries(options).every(isDefaultOption)
}

function isDefaultOption([name, value]: [string, unknown]): boolean {
  return value === undefined || (name === 'maxOrigins' && value === Number.POSITIVE_INFINITY)
}

function ownSymbolValue(target: object, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(target).find((candidate) => candidate.description === description)
  return symbol && (target as Record<symbol, unknown>)[symbol]
}
