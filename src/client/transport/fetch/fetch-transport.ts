import { onAbort } from '../../../foundation/abort.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import { isEventStream } from '../event-stream.ts'
import { abortedFault, toFault, untrustedRedirect } from '../network-fault.ts'
import type { Transport, TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { discardBody, type ReadBody, readBody } from './read-body.ts'

/** Requests through any fetch-compatible function: the browser's, a test's, an instrumentation's. */
export function fetchTransport(fetch: FetchLike): Transport {
  return { send: (request) => send(fetch, request) }
}

async function send(fetch: FetchLike, request: TransportRequest): Promise<TransportOutcome> {
  const { signal } = request
  if (signal.aborted) return abortedFault(signal, { mayHaveArrived: false })
  let init: RequestInit
  try {
    init = toInit(request)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: false, transient: false }
  }
  try {
    const response = await untilAborted(fetch(request.url, init), signal)
    return await toOutcome(response, request)
  } catch (error) {
    // A custom fetch can't tell how far it came.
    return signal.aborted ? abortedFault(signal, { mayHaveArrived: true }) : toFault(error)
  }
}

function toInit(request: TransportRequest): RequestInit {
  const headers = new Headers()
  for (const [name, value] of request.headers) headers.append(name, value)
  return {
    method: request.method,
    headers,
    body: request.body as Uint8Array<ArrayBuffer> | null,
    redirect: request.redirect,
    signal: request.signal,
  }
}

/** A fetch that takes no notice of its signal must not hold the caller; what it brings later is thrown away. */
function untilAborted(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => {
      reject(signal.reason)
      Promise.resolve(answer).then(discardBody, () => {})
    })
    Promise.resolve(answer).then(resolve, reject).finally(stop)
  })
}

async function toOutcome(response: Response, request: TransportRequest): Promise<TransportOutcome> {
  const refusal = refuse(response, request)
  if (refusal) {
    discardBody(response)
    return refusal
  }
  const headers: HeaderList = [...response.headers]
  const content = await read(response, headers, request)
  if ('kind' in content) return content
  const { status, statusText, redirected } = response
  return { kind: 'response', status, statusText, headers, ...content, url: response.url || request.url, redirected }
}

async function read(
  response: Response,
  headers: HeaderList,
  request: TransportRequest,
): Promise<ReadBody | TransportFault> {
  const { signal, bodyLimit } = request
  try {
    return await readBody(response, { signal, limit: isEventStream(headers) ? 'stream' : bodyLimit })
  } catch (error) {
    const fault = signal.aborted ? abortedFault(signal, { mayHaveArrived: true }) : toFault(error)
    return { ...fault, mayHaveArrived: true, head: { status: response.status, headers } }
  }
}

/** Answers that are none: see the port for what each word means. */
function refuse(response: Response, request: TransportRequest): TransportFault | undefined {
  if (typeof response?.status !== 'number') throw new TypeError('fetch did not give a Response')
  if (response.type === 'error') return fault('network', 'An error response')
  if (response.status === 0 && request.redirect !== 'manual')
    return fault('opaque-response', 'An answer that is hidden')
  if (!response.redirected) return undefined
  const origin = originOf(response.url)
  return request.trusts(origin) ? undefined : untrustedRedirect(origin)
}

function fault(code: 'network' | 'opaque-response', message: string): TransportFault {
  return { kind: 'fault', code, mayHaveArrived: true, transient: code === 'network', cause: new Error(message) }
}

/** `'null'`, as opaque origins have it, where there is no URL to tell. */
function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return 'null'
  }
}
