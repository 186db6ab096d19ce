import type { ServerResponse } from 'node:http'
import { type HeaderList, isEventStream } from '../../../protocol/headers.ts'
import {
  exchangeHeaders,
  type HandlerAnswer,
  headersOfHandler,
  isHandlers,
  replacingHeaders,
} from '../handler-answer.ts'
import type { Answer, StreamedAnswer } from '../port.ts'
import { BufferedChunks } from './buffered-chunks.ts'
import { HeldClose } from './held-close.ts'
import {
  checkStatus,
  type Done,
  type Interception,
  impliedHead,
  interceptResponse,
  type ResponseListener,
  taken,
} from './intercept-response.ts'
import type { ResponseRecorder } from './response-recorder.ts'
import { headOf, type ResponseHead, replaceFields, responseHeaders, restoreHead } from './send-answer.ts'

type State = 'buffering' | 'recording' | 'streaming' | 'sending'

/** A response that is buffered until its answer is recorded. */
export class BufferedResponse implements ResponseListener {
  readonly #res: ServerResponse
  readonly #recorder: ResponseRecorder
  /** As it was in front of the ledger. */
  readonly before: ResponseHead
  /** The headers that the answer of the effect is sent with, whatever the handler answers itself. */
  #kept: HeaderList
  readonly #interception: Interception
  #state: State = 'buffering'
  readonly #chunks = new BufferedChunks()
  /** The answer that is sent as it comes. */
  #streamed: StreamedAnswer | undefined
  /** The connection is closed. */
  isClosed = false
  readonly #close: HeldClose
  /** The handler called `res.destroy()`. */
  #destroyed = false
  headersSent = false
  writableEnded = false

  constructor(res: ServerResponse, recorder: ResponseRecorder) {
    this.#res = res
    this.#recorder = recorder
    this.#close = new HeldClose(res)
    this.before = headOf(res)
    this.#kept = this.before.headers
    this.#interception = interceptResponse(res, this)
  }

  /** The answer is complete: the handler can't change it any more. */
  get isAnswered(): boolean {
    return this.#state !== 'buffering'
  }

  /** The answer is sent as it comes, and the handler has not ended it. */
  get isStreaming(): boolean {
    return this.#streamed !== undefined && this.#state !== 'sending' && !this.writableEnded
  }

  /** The effect has an answer. Headers that are set later belong to an answer of the handler. */
  keepHeaders(): void {
    if (!this.headersSent) this.#kept = responseHeaders(this.#res)
  }

  /** Sends this in place of the handler's answer, and ignores its later calls. */
  replace(answer: Answer): void {
    // Wrappers that have seen the beginning of another answer can't take this one.
    const end = this.headersSent ? this.#interception.own.end : this.#res.end.bind(this.#res)
    this.#stopBuffering('seal')
    if (!this.isClosed && !this.#destroyed) {
      const headers = replacingHeaders(this.#exchangeHeaders(), answer.headers)
      restoreHead(this.#res, { status: answer.status, headers })
      end(answer.body ?? undefined)
    }
    this.#chunks.callAll()
  }

  /** As before the handler. */
  restore(): void {
    this.#stopBuffering('stop')
    if (!this.#res.headersSent) restoreHead(this.#res, this.before)
  }

  /** The handler has failed after the head of its answer: a body that is half sent must not look whole. */
  cutShort(): void {
    if (this.#streamed) this.#stopBuffering('seal')
    if (this.#state === 'sending' && !this.#res.writableEnded) this.#interception.own.destroy()
  }

  passes(): boolean {
    if (this.#state !== 'buffering' || this.#recorder.records()) return false
    this.#state = 'sending'
    this.#recorder.complete({ status: this.#res.statusCode, headers: [], body: null }).catch(this.#recorder.onError)
    return true
  }

  takesHeaders(): boolean {
    if (!this.headersSent) return !this.#isReturned
    const error = new Error('Cannot set headers after they are sent to the client')
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
  }

  head(): void {
    if (this.#state !== 'buffering') return
    this.headersSent = true
    // A client of events waits for the head first.
    if (isEventStream(responseHeaders(this.#res))) this.#recordOwn()
    else if (this.isClosed) this.#recorder.onClosed()
  }

  write(chunk: Buffer, done: Done): boolean {
    if (this.writableEnded || this.#isReturned) return taken(done)
    this.#impliedHead()
    if (this.#state === 'streaming') return this.#interception.own.write(chunk, done) as boolean
    this.#chunks.size += chunk.length
    const fits = this.#state === 'buffering' && this.#chunks.size <= this.#recorder.limit
    this.#chunks.push(chunk, fits ? undefined : done)
    if (fits) return taken(done)
    if (this.#state === 'buffering') this.#recordOwn()
    // Backpressure: `drain` is emitted when the head is sent.
    return false
  }

  end(chunk: Buffer | undefined, done: Done): void {
    if (this.writableEnded || this.#isReturned) return void taken(done)
    checkStatus(this.#res.statusCode)
    this.#impliedHead()
    if (chunk) this.write(chunk, undefined)
    this.writableEnded = true
    this.#chunks.onEnd(done)
    if (this.#state === 'buffering') this.#recordOwn()
    else if (this.#state === 'streaming') void this.#endStream()
  }

  destroys(error: Error | undefined): void {
    this.#destroyed = this.#state === 'buffering' || this.isStreaming
    this.#interception.own.destroy(error)
    if (!this.#destroyed) return
    // Its `close` came when the caller hung up, and was not emitted.
    this.#close.emit()
    this.#recorder.onDestroyed(error ?? new Error('The handler destroyed its response before it gave an answer'))
  }

  closes(): boolean {
    if (this.#state === 'sending' || this.#destroyed || !this.#recorder.records()) return true
    this.isClosed = true
    if (!this.#streamed) this.#close.hold()
    this.#recorder.onClosed()
    return this.#streamed !== undefined
  }

  /** The answer was returned, not sent: what the handler sends now comes too late. */
  get #isReturned(): boolean {
    return this.#state === 'recording' && !this.headersSent
  }

  /** What middleware adds to the head last belongs to the exchange. */
  #impliedHead(): void {
    if (this.headersSent) return
    const headers = responseHeaders(this.#res)
    impliedHead(this.#res)
    this.#kept = [...this.#kept, ...headersOfHandler(responseHeaders(this.#res), headers)]
  }

  #exchangeHeaders(): HeaderList {
    const headers = responseHeaders(this.#res)
    return this.headersSent ? exchangeHeaders(headers, this.#kept) : headers
  }

  #recordOwn(): void {
    const all = responseHeaders(this.#res)
    const headers = headersOfHandler(all, this.before.headers)
    const answer: HandlerAnswer = { status: this.#res.statusCode, headers, body: null, isHandlers: true }
    const isWhole = this.#chunks.size <= this.#recorder.limit && !isEventStream(all)
    if (isWhole) void this.answer({ ...answer, body: this.#chunks.body() })
    else void this.#stream({ ...answer, streamed: true })
  }

  /** Records the answer and sends it: also that of a handler that returns it. */
  async answer(answer: Answer): Promise<void> {
    this.#state = 'recording'
    try {
      const outgoing = await this.#recorder.complete(answer)
      if (isHandlers(outgoing)) this.#send(answer, outgoing)
      else this.replace(outgoing)
    } catch (error) {
      this.#recorder.onError(error)
    }
  }

  #send(answer: Answer, outgoing: Answer): void {
    this.#stopBuffering('open')
    if (!this.isClosed) replaceFields(this.#res, answer.headers, outgoing.headers)
    this.#sendEnd(outgoing.body ?? undefined)
  }

  #sendEnd(chunk?: Uint8Array): void {
    if (this.isClosed) return void this.#chunks.callAll()
    // Not as arguments: not all wrappers take a callback.
    this.#res.once('finish', () => this.#chunks.callAll())
    this.#interception.own.end(chunk)
  }

  async #stream(answer: StreamedAnswer): Promise<void> {
    this.#state = 'recording'
    this.#streamed = answer
    try {
      const outgoing = await this.#recorder.stream(answer)
      // The handler has failed meanwhile.
      if (this.#state !== 'recording') return
      if (!isHandlers(outgoing)) return this.replace(outgoing)
      this.#state = 'streaming'
      this.#interception.sendHead(() => replaceFields(this.#res, answer.headers, outgoing.headers))
      this.#close.emit()
      let flows: unknown = true
      for (const { chunk, done } of this.#chunks.take()) flows = this.#interception.own.write(chunk, done)
      if (this.writableEnded) void this.#endStream()
      else if (flows) this.#interception.own.emit('drain')
    } catch (error) {
      this.#recorder.onError(error)
    }
  }

  /** The caller must not see the end of an answer that is not on record. */
  async #endStream(): Promise<void> {
    try {
      const recorded = await this.#recorder.complete(this.#streamed as StreamedAnswer)
      if (!isHandlers(recorded) && recorded.status >= 400) return this.cutShort()
      this.#stopBuffering('open')
      this.#sendEnd()
    } catch (error) {
      this.cutShort()
      this.#recorder.onError(error)
    }
  }

  /** From now on the response works as itself. */
  #stopBuffering(how: 'open' | 'seal' | 'stop'): void {
    this.#state = 'sending'
    this.#interception[how]()
    this.#close.emit()
  }
}
