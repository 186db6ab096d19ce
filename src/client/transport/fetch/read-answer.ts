import { readChunksUpTo } from '../../../foundation/join-chunks.ts'
import { type HeaderList, isEventStream } from '../../../protocol/headers.ts'
import { isSafeMethod } from '../../../protocol/methods.ts'
import { abortedFault, type ToFault, untrustedRedirect } from '../fault.ts'
import type { TransportFault, TransportOutcome, TransportRequest, TransportResponse } from '../port.ts'
import { type Whose, whoseAnswer } from '../redirect.ts'
import type { Fetched, FetchHop } from './fetch-transport.ts'

/** A whole body, or all of it in `rest`. */
type AnswerContent = Pick<TransportResponse, 'body' | 'rest'>
interface StreamedContent extends AnswerContent {
  readonly rest?: ReadableStream<Uint8Array> | undefined
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** What a fetch gave, as plain values. Never rejects. */
export async function toOutcome(fetched: Fetched, hop: FetchHop, toFault: ToFault): Promise<TransportOutcome> {
  const { response } = fetched
  try {
    const refusal = refuseAnswer(response, hop.request)
    if (refusal) {
      discardBody(response)
      return refusal
    }
    const headers = [...response.headers]
    const content = await (hop.request.dropIn ? leaveUnread : readContent)(fetched, headers, { hop, toFault })
    if ('kind' in content) return content
    const { status, statusText } = response
    const url = response.url || hop.url
    return { kind: 'response', status, statusText, headers, ...content, url, ...whose(fetched, hop) }
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: true }
  }
}

/**
 * A fetch that follows by itself hides whether a redirect kept the method (307, 308): then a page is taken for the answer to a
 * GET, and anything else for that of the API.
 */
function whose({ response, sendsOnce }: Fetched, hop: FetchHop): Whose {
  const known = whoseAnswer(hop, hop.request, { sendsOnce })
  if (!response.redirected || hop.redirects > 0) return known
  const isPage = /^text\/html\b/i.test(response.headers.get('content-type') ?? '')
  return { ...known, redirected: true, answersGet: known.answersGet || (isPage && !isSafeMethod(hop.request.method)) }
}

interface AnswerContext {
  readonly hop: FetchHop
  readonly toFault: ToFault
}

/** The platform's own `Response`, as `client.fetch` gives it to its caller. */
async function leaveUnread(
  fetched: Fetched,
  headers: HeaderList,
  context: AnswerContext,
): Promise<AnswerContent | TransportFault> {
  const { response } = fetched
  const { status } = response
  if (!context.hop.request.dropIn?.keyed || (status !== 409 && status !== 422)) return { body: null, rest: response }
  const copy = await readContent({ ...fetched, response: response.clone() }, headers, context)
  if ('kind' in copy) return copy
  copy.rest?.cancel().catch(() => {})
  return { body: copy.body, rest: response }
}

async function readContent(
  fetched: Fetched,
  headers: HeaderList,
  { hop, toFault }: AnswerContext,
): Promise<StreamedContent | TransportFault> {
  const { response } = fetched
  const { signal } = hop.request
  const head = { status: response.status, headers, ...whose(fetched, hop) }
  if (response.bodyUsed) return { ...answerFault('used-body', 'fetch gave a Response that was read before'), head }
  try {
    const { body } = response
    if (!body) return { body: null }
    if (isEventStream(headers)) return { body: null, rest: body }
    // Some fetch functions have streams of another kind.
    if (typeof body.getReader !== 'function') return { body: new Uint8Array(await response.arrayBuffer()) }
    return await collect(body.getReader(), response, hop.request)
  } catch (error) {
    const broken = signal.aborted ? abortedFault(signal, { mayHaveArrived: true }) : toFault(error)
    return { ...broken, mayHaveArrived: true, head }
  }
}

/** Up to the limit; a longer body turns into a stream that starts with the first byte. */
async function collect(
  reader: Reader,
  { ok, status }: Response,
  { signal, bodyLimit, boundBody }: TransportRequest,
): Promise<StreamedContent> {
  // A reader that is cancelled ends as if the body did.
  const stopCut = ok ? undefined : boundBody?.(status, () => ignoreFailure(reader.cancel()))
  try {
    const { whole, chunks } = await readChunksUpTo(bodyLimit, reader, signal)
    return whole ? { body: whole } : { body: null, rest: resumed(chunks, reader) }
  } finally {
    stopCut?.()
  }
}

/** What was read so far, then the rest at the reader's pace. */
function resumed(chunks: Uint8Array[], reader: Reader): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const chunk = chunks.shift() ?? (await reader.read()).value
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Not waited for: where a body was split in two, cancelling one half waits for the other. */
export function discardBody(response: Response): void {
  const body = response?.body as (ReadableStream & { destroy?: () => void }) | null | undefined
  if (!body || body.locked) return
  if (typeof body.cancel === 'function') ignoreFailure(body.cancel())
  // Streams of Node's kind: one that is not read would keep its connection, and with it the process.
  else if (typeof body.destroy === 'function') body.destroy()
}

function ignoreFailure(work: Promise<unknown>): void {
  work.catch(() => {})
}

/** A custom fetch may resolve to anything. */
export function isResponseLike(response: Response | undefined): response is Response {
  return typeof response?.status === 'number'
}

/** Answers that are none: see the port for what each code means. */
function refuseAnswer(response: Response, request: TransportRequest): TransportFault | undefined {
  if (!isResponseLike(response)) return answerFault('no-response', 'fetch did not give a Response')
  if (response.type === 'error') return answerFault('network', 'An error response')
  if (response.status === 0 && request.redirect !== 'manual' && !request.dropIn)
    return answerFault('opaque-response', 'An answer that is hidden')
  if (!response.redirected || isSafeMethod(request.method)) return undefined
  const origin = originOf(response.url)
  return request.trusts(origin) ? undefined : untrustedRedirect(origin)
}

function answerFault(
  code: 'network' | 'opaque-response' | 'no-response' | 'used-body',
  message: string,
): TransportFault {
  return { kind: 'fault', code, mayHaveArrived: true, transient: code === 'network', cause: new Error(message) }
}

/** `'null'`, as opaque origins have it, where there is no URL to read it from. */
function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return 'null'
  }
}
