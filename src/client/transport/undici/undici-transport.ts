import type { Agent, Dispatcher } from 'undici'
import type { DispatcherLike } from '../../options.ts'
import { judgeCode } from '../fault-codes.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { Transport, TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { createDefaultAgent } from './default-agent.ts'
import { Exchange } from './exchange.ts'
import { applicationDispatcher } from './global-dispatcher.ts'
import { loadUndici, type Undici, undici } from './undici-module.ts'

export interface UndiciTransportOptions {
  /** Stays the caller's: `close` leaves it alone. */
  readonly dispatcher?: DispatcherLike | undefined
}

/** Requests below fetch: plain values in, plain values out. A tuned Agent, unless the application has its own. */
export function undiciTransport(options: UndiciTransportOptions = {}): Required<Transport> {
  const explicit = options.dispatcher as Dispatcher | undefined
  let own: Agent | undefined
  let closed = false
  const pick = (loaded: Undici): Dispatcher => {
    const chosen = explicit ?? applicationDispatcher()
    if (chosen) return chosen
    own ??= createDefaultAgent(loaded)
    if (closed) void own.close()
    return own
  }
  return {
    send: (request) => {
      const loaded = undici()
      if (loaded) return send(() => pick(loaded), request)
      return loadUndici().then((module) => send(() => pick(module), request))
    },
    close: async () => {
      closed = true
      if (own) await closeAgent(own)
    },
  }
}

function send(pick: () => Dispatcher, request: TransportRequest): Promise<TransportOutcome> {
  const { signal } = request
  if (signal.aborted) return Promise.resolve(abortedFault(signal, { mayHaveArrived: false }))
  return new Promise((resolve) => {
    try {
      new Exchange(pick(), request, resolve).dispatch()
    } catch (error) {
      resolve(neverSent(error))
    }
  })
}

/** A URL that can't be parsed, or a dispatcher that is none. */
function neverSent(error: unknown): TransportFault {
  return { ...toFault(error, judgeCode), mayHaveArrived: false, transient: false }
}

/** Idle connections go at once. A body that somebody is still reading closes its connection when it has been read. */
async function closeAgent(agent: Agent): Promise<void> {
  if (agent.closed || agent.destroyed) return
  const busy = Object.values(agent.stats).some(({ running, pending }) => (running ?? 0) + (pending ?? 0) > 0)
  const closing = agent.close()
  if (!busy) await closing
}
