import type { Dispatcher } from 'undici'
import { isEventStream } from '../../../protocol/event-stream.ts'
import { type HeaderList, headerValue } from '../../../protocol/headers.ts'
import { BodySink, type Valve } from './body-sink.ts'
import { ContentDecoder, type DecoderSink, parseCodings } from './content-decoder.ts'
import { fromHeaderObject } from './response-headers.ts'

export interface Head {
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
}

/** What a hop tells about: the exchange that it is a part of. */
export interface HopOwner {
  readonly bodyLimit: number
  /** From here on bytes may have left. */
  onSending(): void
  /** `false`: this answer is done with, a redirect that is being followed. */
  onHead(head: Head): boolean
  onStream(rest: ReadableStream<Uint8Array>): void
  /** All is there; `body` is null where there was none, or where it went to the stream. */
  onEnd(body: Uint8Array | null): void
  onError(error: unknown): void
}

type Controller = Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>
type HeaderObject = Record<string, string | string[] | undefined>

/** One request on the wire, as undici's dispatchers report it. After `detach` it hears nothing any more. */
export class Hop implements Valve, DecoderSink {
  readonly #owner: HopOwner
  readonly #method: string
  #controller: Controller | undefined
  #sink: BodySink | undefined
  #codings: readonly string[] | undefined
  #decoder: ContentDecoder | undefined
  #detached: { readonly reason: unknown } | undefined

  constructor(owner: HopOwner, method: string) {
    this.#owner = owner
    this.#method = method
  }

  /** undici calls this when a socket is there, right before it writes. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#detached) controller.abort(asError(this.#detached.reason))
    else this.#owner.onSending()
  }

  // biome-ignore lint/complexity/useMaxParams: undici calls it so
  onResponseStart(_: unknown, status: number, headers: HeaderObject, statusText?: string): void {
    this.receiveHead({ status, statusText: statusText ?? '', headers: fromHeaderObject(headers) })
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    if (this.#detached || !this.#sink) return
    if (this.#codings) this.#decode(this.#codings, chunk)
    else this.#sink.write(chunk)
  }

  onResponseEnd(): void {
    if (this.#detached) return
    if (this.#decoder) this.#decoder.end()
    else this.onDecodedEnd()
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.#detached) return
    this.#fail(error)
  }

  /** Lets go of the request: what is under way is cut off, what was never sent stays unsent. */
  detach(reason: unknown): void {
    if (this.#detached) return
    this.#detached = { reason }
    this.#decoder?.destroy()
    this.#sink?.fail(reason)
    this.#controller?.abort(asError(reason))
  }

  /** Takes what has arrived of the body for all of it. */
  cut(): void {
    const body = this.#sink?.bytes() ?? null
    this.detach(new Error('The rest of the body was not waited for'))
    this.#owner.onEnd(body)
  }

  pause(): void {
    ;(this.#decoder ?? this.#controller)?.pause()
  }

  resume(): void {
    ;(this.#decoder ?? this.#controller)?.resume()
  }

  discard(reason: unknown): void {
    this.#sink = undefined
    this.detach(reason)
    this.#owner.onEnd(null)
  }

  onDecoded(chunk: Uint8Array): void {
    if (!this.#detached) this.#sink?.write(chunk)
  }

  onDecodedEnd(): void {
    if (this.#detached) return
    const sink = this.#sink
    sink?.end()
    this.#owner.onEnd(sink && !sink.streaming ? sink.bytes() : null)
  }

  onDecodeError(error: Error): void {
    if (this.#detached) return
    this.#fail(error)
    this.detach(error)
  }

  protected receiveHead(head: Head): void {
    // 1xx: the real answer is still to come.
    if (this.#detached || head.status < 200 || !this.#owner.onHead(head)) return
    if (this.#method === 'HEAD' || head.status === 204 || head.status === 205 || head.status === 304) return
    this.#codings = parseCodings(headerValue(head.headers, 'content-encoding'))
    this.#sink = new BodySink(this.#owner.bodyLimit, this, (stream) => this.#owner.onStream(stream))
    if (isEventStream(head.headers)) this.#sink.openStream()
  }

  #decode(codings: readonly string[], chunk: Uint8Array): void {
    this.#decoder ??= new ContentDecoder(codings, this, () => this.#controller?.resume())
    if (!this.#decoder.write(chunk)) this.#controller?.pause()
  }

  #fail(error: unknown): void {
    this.#sink?.fail(error)
    this.#owner.onError(error)
  }
}

/** undici asks for an error; a signal's reason may be anything. */
function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The request was let go', { cause: reason })
}
