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
import {
  checkStatus,
  type Done,
  type Interception,
  impliedHead,
  interceptResponse,
  isHttp1,
  type ResponseListener,
  taken,
} from './intercept-response.ts'
import { headOf, type ResponseHead, responseHeaders, restoreHead, setHeaders } from './send-answer.ts'

/** The session of the handler, as far as its response is concerned. */
export interface ResponseRecorder {
  /** Bytes that are buffered at most. */
  readonly limit: number
  /** Is the answer recorded? If not, the response is sent from its first byte on. */
  records(): boolean
  /** Records the answer. Returns the answer to send. */
  complete(answer: Answer): Promise<Answer>
  /** The handler has destroyed the response before its answer: the handler has failed. */
  onDestroyed(error: unknown): void
  /** The response is closed before its answer; called again when the handler then begins one. */
  onClosed(): void
  onError(error: unknown): void
}

type State = 'buffering' | 'recording' | 'sending'

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
  #chunks: { readonly chunk: Buffer; readonly done: Done }[] = []
  #size = 0
  /** The connection is closed, and `close` was not emitted yet. */
  isClosed = false
  /** The handler called `res.destroy()`. */
  #destroyed = false
  #ended: Done[] = []
  headersSent = false
  writableEnded = false

  constructor(res: ServerResponse, recorder: ResponseRecorder) {
    this.#res = res
    this.#recorder = recorder
    this.before = headOf(res)
    this.#kept = this.before.headers
    this.#interception = interceptResponse(res, this)
  }

  /** The answer is complete: the handler can't change it any more. */
  get isAnswered(): boolean {
    return this.#state !== 'buffering'
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
    this.#callAll()
  }

  /** As before the handler. */
  restore(): void {
    this.#stopBuffering('stop')
    if (!this.#res.headersSent) restoreHead(this.#res, this.before)
  }

  /** The handler has failed after its answer: a body that is half sent must not look whole. */
  cutShort(): void {
    if (this.#state === 'sending' && !this.#res.writableEnded) this.#res.destroy()
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
    this.#size += chunk.length
    const fits = this.#state === 'buffering' && this.#size <= this.#recorder.limit
    this.#chunks.push({ chunk, done: fits ? undefined : done })
    if (fits) return taken(done)
    if (this.#state === 'buffering') this.#recordOwn()
    // Backpressure: `drain` is emitted when the answer is recorded.
    return false
  }

  end(chunk: Buffer | undefined, done: Done): void {
    if (this.writableEnded || this.#isReturned) return void taken(done)
    checkStatus(this.#res.statusCode)
    this.#impliedHead()
    if (chunk) this.write(chunk, undefined)
    this.writableEnded = true
    this.#ended.push(done)
    if (this.#state === 'buffering') this.#recordOwn()
  }

  destroys(error: Error | undefined): void {
    this.#destroyed = this.#state === 'buffering'
    this.#interception.own.destroy(error)
    if (!this.#destroyed) return
    // Its `close` came when the caller hung up, and was not emitted.
    if (this.isClosed) this.#emitClose()
    this.#recorder.onDestroyed(error ?? new Error('The handler destroyed its response before it gave an answer'))
  }

  closes(): boolean {
    if (this.#state === 'sending' || this.#destroyed || !this.#recorder.records()) return true
    this.isClosed = true
    // A pipeline would stop at a closed response.
    this.#setClosed(false)
    this.#recorder.onClosed()
    return false
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
    const streamed: StreamedAnswer = { ...answer, streamed: true }
    const isWhole = this.#size <= this.#recorder.limit && !isEventStream(all)
    void this.answer(isWhole ? { ...answer, body: this.#body() } : streamed)
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
    if (this.isClosed) return void this.#callAll()
    const kept = new Set(outgoing.headers.map(([name]) => name))
    for (const [name] of answer.headers) if (!kept.has(name)) this.#res.removeHeader(name)
    setHeaders(this.#res, outgoing.headers)
    // Not as arguments: not all wrappers take a callback.
    this.#res.once('finish', () => this.#callAll())
    if ('streamed' in outgoing) this.#flush()
    else this.#interception.own.end(outgoing.body ?? undefined)
  }

  /** Sends what was buffered; later calls go to the response. */
  #flush(): void {
    const { own } = this.#interception
    if (this.#chunks.length === 0) own.flushHeaders()
    let flows: unknown = true
    for (const { chunk, done } of this.#chunks.splice(0)) flows = own.write(chunk, done)
    if (this.writableEnded) own.end()
    else if (flows) own.emit('drain')
  }

  #body(): Buffer | null {
    return this.#size === 0 ? null : Buffer.concat(this.#chunks.map(({ chunk }) => chunk))
  }

  /** From now on the response works as itself. */
  #stopBuffering(how: 'open' | 'seal' | 'stop'): void {
    this.#state = 'sending'
    this.#interception[how]()
    if (this.isClosed && !this.#destroyed) this.#emitClose()
  }

  /** Now the handler may know that the caller has hung up. */
  #emitClose(): void {
    this.#setClosed(true)
    this.#res.emit('close')
  }

  #setClosed(closed: boolean): void {
    if (isHttp1(this.#res)) Object.assign(this.#res, { destroyed: closed, _closed: closed })
  }

  #callAll(): void {
    for (const { done } of this.#chunks.splice(0)) done?.()
    for (const done of this.#ended.splice(0)) done?.()
  }
}
