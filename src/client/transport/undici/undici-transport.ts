import type { Agent, Dispatcher } from 'undici'
import type { DispatcherLike } from '../../options.ts'
import { abortedFault } from '../fault.ts'
import { toNodeFault } from '../node-fault.ts'
import type { Transport, TransportOutcome, TransportRequest } from '../port.ts'
import { firstHop } from '../redirect.ts'
import { Exchange, type Sending } from './exchange.ts'
import { applicationDispatcher, noteDefaultDispatcher } from './global-dispatcher.ts'
import { LegacyExchange } from './legacy-exchange.ts'

type Undici = typeof import('undici')

export interface UndiciTransportOptions {
  /** Stays the caller's: `close` leaves it alone. */
  readonly dispatcher?: DispatcherLike | undefined
}

/** Requests below fetch: plain values in, plain values out. A tuned Agent, unless the application has its own. */
export function undiciTransport(options: UndiciTransportOptions = {}): Required<Transport> {
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
        const dispatcher = explicit ?? applicationDispatcher() ?? ownAgent(undici)
        startExchange(undici, { dispatcher, request, resolve })
      } catch (error) {
        // A URL that can't be parsed, or a dispatcher that is none.
        resolve({ ...toNodeFault(error), mayHaveArrived: false, transient: false })
      }
    })
  return {
    send: (request) => (loaded ? send(loaded, request) : loadUndici().then((undici) => send(undici, request))),
    close: async () => {
      closed = true
      if (own) await closeAgent(own)
    },
  }
}

function startExchange(undici: Undici, sending: Sending): void {
  // A dispatcher of another copy of undici may call the handler's methods by their older names.
  const isOurs = sending.dispatcher instanceof undici.Dispatcher
  const hop = firstHop(sending.request)
  const exchange = isOurs ? new Exchange(sending, hop) : new LegacyExchange(sending, hop)
  exchange.dispatch()
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
    // Enough for a busy service, few enough to be kind to a server that comes back after an outage.
    connections: 256,
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
