import type { Dispatcher } from 'undici'
import { abortReason, onAbort } from '../../../foundation/abort.ts'
import { joinChunks } from '../../../foundation/join-chunks.ts'
import { type HeaderList, headerValue, isEventStream } from '../../../protocol/headers.ts'
import { abortedFault } from '../fault.ts'
import { toNodeFault } from '../node-fault.ts'
import type { TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { followRedirect, type Hop, isRedirect, whoseAnswer } from '../redirect.ts'
import { BodyStream, type StreamFeed } from './body-stream.ts'
import { ContentDecoder, type DecoderSink, parseCodings } from './content-decoder.ts'
import { fromHeaderObject, toRawHeaders, toWireBody } from './wire-format.ts'

/** One `send`: what all of its hops share. */
export interface Sending {
  readonly dispatcher: Dispatcher
  /** Does the dispatcher say it of each try when a socket is there? Else not to have heard of one proves nothing. */
  readonly isCandid: boolean
  readonly request: TransportRequest
  /** A second outcome goes nowhere: a promise settles once. */
  readonly resolve: (outcome: TransportOutcome) => void
}

interface Head {
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
}

type Controller = Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>
type HeaderObject = Record<string, string | string[] | undefined>

/**
 * One request on the wire and its answer, as undici's dispatchers report them to a handler. A redirect that is followed
 * begins the next exchange. After `#detach` nothing that the dispatcher still reports has any effect.
 *
 *     dispatch -> onRequestStart -> onResponseStart -> onResponseData* -> onResponseEnd
 *                 bytes may leave   head, or redirect  collected, or       the outcome, or
 *                                                      to a stream         the end of the stream
 */
export class Exchange implements StreamFeed, DecoderSink {
  readonly #sending: Sending
  readonly #hop: Hop
  #stopListening: (() => void) | undefined
  #controller: Controller | undefined
  #mayHaveArrived: boolean
  #tries = 0
  #head: Head | undefined
  /** Undefined: the answer has no body. */
  #chunks: Uint8Array[] | undefined
  #size = 0
  #codings: readonly string[] | undefined
  #decoder: ContentDecoder | undefined
  #stream: BodyStream | undefined
  #stopCut: (() => void) | undefined
  #detached: { readonly reason: unknown } | undefined

  constructor(sending: Sending, hop: Hop) {
    this.#sending = sending
    this.#hop = hop
    // The server that answered an earlier hop has had the request.
    this.#mayHaveArrived = hop.redirects > 0 || !sending.isCandid
    this.#stopListening = onAbort(sending.request.signal, () => this.#abort())
  }

  dispatch(): void {
    if (this.#detached) return
    const { dispatcher } = this.#sending
    const { method, url, headers: list, body: bytes } = this.#hop
    const path = url.search ? url.pathname + url.search : url.pathname
    const headers = toRawHeaders(list)
    const body = bytes && toWireBody(bytes, dispatcher)
    try {
      dispatcher.dispatch({ origin: url.origin, path, method, headers, body }, this)
    } catch (error) {
      this.onResponseError(undefined, error)
    }
  }

  /** undici calls this for each try when a socket is there, right before it writes. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#detached) controller.abort(asError(this.#detached.reason))
    else this.#mayHaveArrived = ++this.#tries > 0
  }

  // biome-ignore lint/complexity/useMaxParams: undici calls it so
  onResponseStart(_: unknown, status: number, headers: HeaderObject, statusText?: string): void {
    this.receiveHead({ status, statusText: statusText ?? '', headers: fromHeaderObject(headers) })
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    if (this.#detached) return
    if (this.#codings) this.#decode(this.#codings, chunk)
    else this.onDecoded(chunk)
  }

  onResponseEnd(): void {
    if (this.#detached) return
    if (this.#decoder) this.#decoder.end()
    else this.onDecodedEnd()
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.#detached) return
    this.#stream?.fail(error)
    this.#settle(this.#withHead({ ...toNodeFault(error), mayHaveArrived: this.#mayHaveArrived }))
  }

  onDecoded(chunk: Uint8Array): void {
    if (this.#detached || !this.#chunks || chunk.byteLength === 0) return
    if (this.#stream) {
      this.#stream.write(chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    if (this.#size > this.#sending.request.bodyLimit) this.#openStream()
  }

  onDecodedEnd(): void {
    if (this.#detached) return
    this.#stream?.end()
    this.#settleBody(this.#collected())
  }

  onDecodeError(error: Error): void {
    this.onResponseError(undefined, error)
    this.#detach(error)
  }

  pause(): void {
    ;(this.#decoder ?? this.#controller)?.pause()
  }

  resume(): void {
    ;(this.#decoder ?? this.#controller)?.resume()
  }

  discard(reason: unknown): void {
    this.#stream = undefined
    this.#detach(reason)
    this.#settleBody(null)
  }

  protected receiveHead(head: Head): void {
    const { status, headers } = head
    // 1xx: the real answer is still to come.
    if (this.#detached || status < 200) return
    this.#head = head
    if (status >= 300 && isRedirect(status) && this.#follow(head)) return
    if (status >= 300) this.#stopCut = this.#sending.request.boundBody?.(status, () => this.#cut())
    if (this.#hop.method === 'HEAD' || status === 204 || status === 205 || status === 304) return
    const encoding = headerValue(headers, 'content-encoding')
    if (encoding) this.#codings = parseCodings(encoding)
    this.#chunks = []
    if (isEventStream(headers)) this.#openStream()
  }

  #decode(codings: readonly string[], chunk: Uint8Array): void {
    this.#decoder ??= new ContentDecoder(codings, this, () => this.#controller?.resume())
    if (!this.#decoder.write(chunk)) this.#controller?.pause()
  }

  /** The exchange of a hop that a redirect leads to. */
  protected next(sending: Sending, hop: Hop): Exchange {
    return new Exchange(sending, hop)
  }

  /** False where this answer is the one to take. */
  #follow({ status, headers }: Head): boolean {
    const { request } = this.#sending
    const next = followRedirect(this.#hop, { status, location: headerValue(headers, 'location') }, request)
    if (!next) return false
    // A caller's rule about origins may have aborted the call.
    if (this.#detached) return true
    // As fetch does it: the rest of the redirecting answer is not waited for.
    this.#detach(new Error('Redirected'))
    this.#stopListening?.()
    if ('kind' in next) this.#sending.resolve(next)
    else this.next(this.#sending, next).dispatch()
    return true
  }

  /** From here on, what was collected and what comes goes to a reader. */
  #openStream(): void {
    const stream = new BodyStream(this)
    for (const chunk of this.#chunks ?? []) stream.write(chunk)
    this.#chunks = []
    this.#stream = stream
    this.#stopCut?.()
    // The signal is listened to until the stream ends.
    this.#sending.resolve(this.#response(null, stream.stream))
  }

  /** Takes what has arrived of the body for all of it. */
  #cut(): void {
    const body = this.#collected()
    this.#detach(new Error('The rest of the body was not waited for'))
    this.#settleBody(body)
  }

  /** Null where there was no body, or where it went to the stream. */
  #collected(): Uint8Array | null {
    const chunks = this.#chunks
    if (!chunks || this.#stream) return null
    const [only] = chunks
    // A copy: a chunk from a socket is a window on a larger buffer that others may read too.
    return chunks.length === 1 && only ? new Uint8Array(only) : joinChunks(chunks, this.#size)
  }

  #abort(): void {
    const { signal } = this.#sending.request
    this.#detach(abortReason(signal))
    this.#settle(this.#withHead(abortedFault(signal, { mayHaveArrived: this.#mayHaveArrived })))
  }

  /** Gives the request up: what is under way is cut off, what was never sent stays unsent. */
  #detach(reason: unknown): void {
    if (this.#detached) return
    this.#detached = { reason }
    this.#decoder?.destroy()
    this.#stream?.fail(reason)
    this.#controller?.abort(asError(reason))
  }

  #withHead(fault: TransportFault): TransportFault {
    if (!this.#head) return fault
    const { status, headers } = this.#head
    return { ...fault, head: { status, headers, ...whoseAnswer(this.#hop, this.#sending.request, this.#tries) } }
  }

  #response(body: Uint8Array | null, rest?: ReadableStream<Uint8Array>): TransportOutcome {
    const { status, statusText, headers } = this.#head as Head
    const whose = whoseAnswer(this.#hop, this.#sending.request, this.#tries)
    return { kind: 'response', status, statusText, headers, body, rest, url: this.#hop.url.href, ...whose }
  }

  #settleBody(body: Uint8Array | null): void {
    if (this.#head) this.#settle(this.#response(body))
  }

  #settle(outcome: TransportOutcome): void {
    this.#stopListening?.()
    this.#stopCut?.()
    this.#sending.resolve(outcome)
  }
}

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('The request was given up', { cause: reason })
