import { isEventStream } from '../../../protocol/event-stream.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { isSafeMethod } from '../../../protocol/methods.ts'
import type { JudgeCode } from '../fault-codes.ts'
import { abortedFault, toFault, untrustedRedirect } from '../network-fault.ts'
import type { TransportFault, TransportOutcome, TransportRequest, TransportResponse } from '../port.ts'
import { finalUrl, type Target } from '../target.ts'
import { type ReadBody, readBody } from './read-body.ts'

/** The request as it was given, and the hop that was answered. */
export interface Asked {
  readonly request: TransportRequest
  readonly target: Target
  readonly judgeCode: JudgeCode | undefined
  /** Redirects are followed by the platform's fetch, or here, hop by hop. */
  readonly follower: 'platform' | 'hand'
}

export async function toOutcome(response: Response, headers: HeaderList, asked: Asked): Promise<TransportOutcome> {
  const content = asked.request.dropIn ? await unread(response, headers, asked) : await read(response, headers, asked)
  if ('kind' in content) return content
  const { status, statusText } = response
  const url = response.url || finalUrl(asked.target)
  const redirected = response.redirected || asked.target.redirects > 0
  return { kind: 'response', status, statusText, headers, ...content, url, redirected }
}

/** The platform's own `Response`, as `client.fetch` gives it to its caller. */
async function unread(
  response: Response,
  headers: HeaderList,
  asked: Asked,
): Promise<Pick<TransportResponse, 'body' | 'rest'> | TransportFault> {
  const { status } = response
  if (asked.target.redirects > 0) showRedirect(response, asked)
  if (!asked.request.dropIn?.keyed || (status !== 409 && status !== 422)) return { body: null, rest: response }
  const copy = await read(response.clone(), headers, asked)
  if ('kind' in copy) return copy
  copy.rest?.cancel().catch(() => {})
  return { body: copy.body, rest: response }
}

/** It was redirected by hand, which the platform could not know. */
function showRedirect(response: Response, { request, target }: Asked): void {
  Object.defineProperty(response, 'redirected', { value: true })
  if (originOf(request.url) !== target.url.origin) Object.defineProperty(response, 'type', { value: 'cors' })
}

async function read(
  response: Response,
  headers: HeaderList,
  { request, judgeCode }: Asked,
): Promise<ReadBody | TransportFault> {
  const { signal, bodyLimit } = request
  const head = { status: response.status, headers }
  if (response.bodyUsed) return { ...fault('used-body', 'fetch gave a Response that was read before'), head }
  try {
    const bound = response.ok ? undefined : (cut: () => void) => request.boundBody?.(response.status, cut)
    return await readBody(response, { signal, limit: isEventStream(headers) ? 'stream' : bodyLimit, bound })
  } catch (error) {
    const broken = signal.aborted ? abortedFault(signal, { mayHaveArrived: true }) : toFault(error, judgeCode)
    return { ...broken, mayHaveArrived: true, head }
  }
}

/** Answers that are none: see the port for what each word means. */
export function refuseAnswer(response: Response, request: TransportRequest): TransportFault | undefined {
  if (typeof response?.status !== 'number') return fault('no-response', 'fetch did not give a Response')
  if (response.type === 'error') return fault('network', 'An error response')
  if (response.status === 0 && request.redirect !== 'manual' && !request.dropIn)
    return fault('opaque-response', 'An answer that is hidden')
  if (!response.redirected || isSafeMethod(request.method)) return undefined
  const origin = originOf(response.url)
  return request.trusts(origin) ? undefined : untrustedRedirect(origin)
}

function fault(code: 'network' | 'opaque-response' | 'no-response' | 'used-body', message: string): TransportFault {
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
