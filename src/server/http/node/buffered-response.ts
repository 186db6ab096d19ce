import type { ServerResponse } from 'node:http'
import { isEventStream } from '../../../protocol/headers.ts'
import { type HandlerAnswer, headersOfHandler, isHandlers } from '../handler-answer.ts'
import type { Answer, StreamedAnswer } from '../port.ts'
import {
  checkStatus,
  type Done,
  type Interception,
  interceptResponse,
  type ResponseListener,
} from './intercept-response.ts'
import { headOf, type ResponseHead, responseHeaders, restoreHead, sendAnswer, setHeaders } from './send-answer.ts'

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
  onError(error: unknown): void
}

type State = 'buffering' | 'recording' | 'sending'

/** A response that is buffered until its answer is recorded. */
export class BufferedResponse implements ResponseListener {
  readonly #res: ServerResponse
  readonly #recorder: ResponseRecorder
  readonly #before: ResponseHead
  #interception: Interception
  #state: State = 'buffering'
  #chunks: { readonly chunk: Buffer; readonly done: Done }[] = []
  #size = 0
  /** The caller has hung up, and `close` was not emitted yet. */
  #hungUp = false
  /** By the handler. */
  #destroyed = false
  #ended: Done[] = []
  headersSent = false
  writableEnded = false

  constructor(res: ServerResponse, recorder: ResponseRecorder) {
    this.#res = res
    this.#recorder = recorder
    this.#before = headOf(res)
    this.#interception = interceptResponse(res, this)
  }

  /** The answer is complete: the handler can't change it any more. */
  get isAnswered(): boolean {
    return this.#state !== 'buffering'
  }

  /** For a handler that returns its answer instead of sending it. */
  answer(answer: Answer): Promise<void> {
    return this.#record(answer)
  }

  /** Sends this in place of the handler's answer, and ignores its later calls. */
  replace(answer: Answer): void {
    this.#stopBuffering('stop')
    if (!this.#hungUp && !this.#destroyed) {
      restoreHead(this.#res, this.#before)
      sendAnswer(this.#res, answer)
    }
    this.headersSent = true
    this.writableEnded = true
    this.#interception = interceptResponse(this.#res, this)
    this.#callAll()
  }

  /** As before the handler. */
  restore(): void {
    this.#stopBuffering('stop')
    if (!this.#res.headersSent) restoreHead(this.#res, this.#before)
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
    if (this.#state === 'sending') return false
    if (!this.headersSent) return true
    const error = new Error('Cannot set headers after they are sent to the client')
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
  }

  head(): void {
    if (this.#state !== 'buffering') return
    this.headersSent = true
    // A client of events waits for the head first.
    if (isEventStream(responseHeaders(this.#res))) this.#recordOwn()
  }

  write(chunk: Buffer, done: Done): boolean {
    if (this.#state === 'sending' || this.writableEnded) return taken(done)
    this.head()
    this.#size += chunk.length
    const fits = this.#state === 'buffering' && this.#size <= this.#recorder.limit
    this.#chunks.push({ chunk, done: fits ? undefined : done })
    if (fits) return taken(done)
    if (this.#state === 'buffering') this.#recordOwn()
    // Backpressure: `drain` is emitted when the answer is recorded.
    return false
  }

  end(chunk: Buffer | undefined, done: Done): void {
    if (this.#state === 'sending' || this.writableEnded) return void taken(done)
    checkStatus(this.#res.statusCode)
    if (chunk) this.write(chunk, undefined)
    this.headersSent = true
    this.writableEnded = true
    this.#ended.push(done)
    if (this.#state === 'buffering') this.#recordOwn()
  }

  destroys(error: Error | undefined): void {
    this.#destroyed = this.#state === 'buffering'
    this.#interception.own.destroy(error)
    if (!this.#destroyed) return
    // Its `close` came when the caller hung up, and was not emitted.
    if (this.#hungUp) this.#emitClose()
    this.#recorder.onDestroyed(error ?? new Error('The handler destroyed its response before it gave an answer'))
  }

  closes(): boolean {
    if (this.#state === 'sending' || this.#destroyed || !this.#recorder.records()) return true
    this.#hungUp = true
    // A pipeline would stop at a closed response.
    Object.assign(this.#res, { destroyed: false, _closed: false })
    return false
  }

  #recordOwn(): void {
    const all = responseHeaders(this.#res)
    const headers = headersOfHandler(all, this.#before.headers)
    const answer: HandlerAnswer = { status: this.#res.statusCode, headers, body: null, isHandlers: true }
    const streamed: HandlerAnswer & StreamedAnswer = { ...answer, streamed: true }
    const isStreamed = this.#size > this.#recorder.limit || isEventStream(all)
    void this.#record(isStreamed ? streamed : { ...answer, body: this.#body() })
  }

  async #record(answer: Answer): Promise<void> {
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
    const isStreamed = 'streamed' in outgoing
    this.#stopBuffering(isStreamed ? 'open' : 'stop')
    if (this.#hungUp) return void this.#callAll()
    const kept = new Set(outgoing.headers.map(([name]) => name))
    for (const [name] of answer.headers) if (!kept.has(name)) this.#res.removeHeader(name)
    setHeaders(this.#res, outgoing.headers)
    if (isStreamed) this.#flush()
    else this.#res.end(outgoing.body ?? undefined, () => this.#callAll())
  }

  /** Sends what was buffered; later calls go to the response. */
  #flush(): void {
    const { own } = this.#interception
    if (this.#chunks.length === 0) own.flushHeaders()
    let flows: unknown = true
    for (const { chunk, done } of this.#chunks.splice(0)) flows = own.write(chunk, done)
    if (this.writableEnded) own.end(() => this.#callAll())
    else if (flows) own.emit('drain')
  }

  #body(): Buffer | null {
    return this.#size === 0 ? null : Buffer.concat(this.#chunks.map(({ chunk }) => chunk))
  }

  /** From now on the response works as itself. */
  #stopBuffering(how: 'open' | 'stop'): void {
    this.#state = 'sending'
    this.#interception[how]()
    if (this.#hungUp && !this.#destroyed) this.#emitClose()
  }

  /** Now the handler may know that the caller has hung up. */
  #emitClose(): void {
    Object.assign(this.#res, { destroyed: true, _closed: true })
    this.#res.emit('close')
  }

  #callAll(): void {
    for (const { done } of this.#chunks.splice(0)) done?.()
    for (const done of this.#ended.splice(0)) done?.()
  }
}

/** Buffered: the handler may go on. */
function taken(done: Done): true {
  if (done) queueMicrotask(done)
  return true
}
