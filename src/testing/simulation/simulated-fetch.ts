import type { FetchLike } from '../../client/options.ts'
import type { TransportFault, TransportOutcome } from '../../client/transport/port.ts'
import type { AbortLike } from '../../foundation/abort.ts'
import type { Sent } from './wire.ts'

/** A request on its way out of a process. */
export interface Outgoing extends Pick<Sent, 'method' | 'url' | 'headers' | 'body'> {
  readonly signal: AbortLike
  /** Is its answer given on as it is, unread? */
  readonly isDropIn: boolean
}

const NEVER = new AbortController().signal
const encoder = new TextEncoder()

/** A fetch that a program brings along, on the simulated network: answers are `Response`s, and faults are thrown as Node throws them. */
export function simulatedFetch(exchange: (request: Outgoing) => Promise<TransportOutcome>): FetchLike {
  return async (input, init = {}) => {
    const { method = 'GET', body } = init
    const signal = init.signal ?? NEVER
    const bytes = typeof body === 'string' ? encoder.encode(body) : ((body ?? null) as Uint8Array | null)
    const headers = [...new Headers(init.headers)]
    const outcome = await exchange({ method, url: String(input), headers, body: bytes, signal, isDropIn: false })
    if (outcome.kind === 'response') return responseOf(outcome, outcome.body)
    if (outcome.code === 'aborted') throw signal.reason
    if (!outcome.head) throw faultOf(outcome)
    return responseOf(outcome.head, brokenBody(outcome))
  }
}

type Head = NonNullable<TransportFault['head']>

function responseOf(
  { status, headers }: Pick<Head, 'status' | 'headers'>,
  body: BodyInit | Uint8Array | null,
): Response {
  const list = headers.map(([name, value]): [string, string] => [name, value])
  return new Response(status === 204 ? null : (body as BodyInit | null), { status, headers: list })
}

/** The head of an answer has arrived, and its body does not. */
function brokenBody(fault: TransportFault): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(faultOf(fault)) })
}

function faultOf({ code }: TransportFault): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
}
