import type { ServerResponse } from 'node:http'
import { isEventStream } from '../../../protocol/event-stream.ts'
import { isOwn, type OwnAnswer, ownHeaders } from '../own-headers.ts'
import type { Answer, UnheldAnswer } from '../port.ts'
import {
  checkStatus,
  type Done,
  type Interception,
  interceptResponse,
  type ResponseListener,
} from './intercept-response.ts'
import { type Blank, blankOf, headersOf, resetTo, sendAnswer, setHeaders } from './send-answer.ts'

/** Who decides over an answer: the session, as far as this room has to know it. */
export interface Decider {
  readonly limit: number
  /** Is there anything to decide? If not, the response goes its way from its first byte on. */
  decides(): boolean
  /** What goes out in the end. */
  complete(answer: Answer): Promise<Answer>
  /** The handler has destroyed the response before it gave an answer: the handler has failed. */
  onDestroyed(error: unknown): void
  onError(error: unknown): void
}

/** `holding`: the handler's calls are noted. `deciding`: the answer is being recorded. `gone`: one is on its way. */
type State = 'holding' | 'deciding' | 'gone'

/** A response whose answer stays here until it is on record. */
export class HeldResponse implements ResponseListener {
  readonly #res: ServerResponse
  readonly #decider: Decider
  readonly #blank: Blank
  #interception: Interception
  #state: State = 'holding'
  #chunks: { readonly chunk: Buffer; readonly done: Done }[] = []
  #size = 0
  /** The caller is gone, and the handler does not know. */
  #hungUp = false
  /** The handler has cut the connection. */
  #destroyed = false
  #ended: Done[] = []
  headersSent = false
  writableEnded = false

  constructor(res: ServerResponse, decider: Decider) {
    this.#res = res
    this.#decider = decider
    this.#blank = blankOf(res)
    this.#interception = interceptResponse(res, this)
  }

  /** The answer is given: nothing that the handler does can change it any more. */
  get isGiven(): boolean {
    return this.#state !== 'holding'
  }

  /** The handler has sent nothing; this is its answer. */
  answer(answer: Answer): Promise<void> {
    return this.#decide(answer)
  }

  /** Sends this, whatever the handler has said, and is deaf to what it still says. */
  replace(answer: Answer): void {
    this.#leave('stop')
    if (!this.#hungUp && !this.#destroyed) {
      resetTo(this.#res, this.#blank)
      sendAnswer(this.#res, answer)
    }
    this.headersSent = true
    this.writableEnded = true
    this.#interception = interceptResponse(this.#res, this)
    this.#callAll()
  }

  /** As if the handler had never touched it. */
  letGo(): void {
    this.#leave('stop')
    if (!this.#res.headersSent) resetTo(this.#res, this.#blank)
  }

  /** The handler has failed after its answer was given. What is half sent must not look whole. */
  cutOff(): void {
    if (this.#state === 'gone' && !this.#res.writableEnded) this.#res.destroy()
  }

  passes(): boolean {
    if (this.#state !== 'holding' || this.#decider.decides()) return false
    this.#state = 'gone'
    this.#decider.complete({ status: this.#res.statusCode, headers: [], body: null }).catch(this.#decider.onError)
    return true
  }

  takesHeaders(): boolean {
    if (this.#state === 'gone') return false
    if (!this.headersSent) return true
    const error = new Error('Cannot set headers after they are sent to the client')
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
  }

  head(): void {
    if (this.#state !== 'holding') return
    this.headersSent = true
    // Whoever waits for events waits for the head first.
    if (isEventStream(headersOf(this.#res))) this.#decideOwn()
  }

  write(chunk: Buffer, done: Done): boolean {
    if (this.#state === 'gone' || this.writableEnded) return taken(done)
    this.head()
    this.#size += chunk.length
    const fits = this.#state === 'holding' && this.#size <= this.#decider.limit
    this.#chunks.push({ chunk, done: fits ? undefined : done })
    if (fits) return taken(done)
    if (this.#state === 'holding') this.#decideOwn()
    // To be waited for: `drain` comes when the answer is on record.
    return false
  }

  end(chunk: Buffer | undefined, done: Done): void {
    if (this.#state === 'gone' || this.writableEnded) return void taken(done)
    checkStatus(this.#res.statusCode)
    if (chunk) this.write(chunk, undefined)
    this.headersSent = true
    this.writableEnded = true
    this.#ended.push(done)
    if (this.#state === 'holding') this.#decideOwn()
  }

  destroys(error: Error | undefined): void {
    this.#destroyed = this.#state === 'holding'
    this.#interception.own.destroy(error)
    if (!this.#destroyed) return
    // Its own `close` came with the hang-up, and was kept from the handler.
    if (this.#hungUp) this.#tellClose()
    this.#decider.onDestroyed(error ?? new Error('The handler destroyed its response before it gave an answer'))
  }

  closes(): boolean {
    if (this.#state === 'gone' || this.#destroyed || !this.#decider.decides()) return true
    this.#hungUp = true
    // To a handler that pipes, a closed response would be a reason to stop.
    Object.assign(this.#res, { destroyed: false, _closed: false })
    return false
  }

  #decideOwn(): void {
    const said = headersOf(this.#res)
    const headers = ownHeaders(said, this.#blank.headers)
    const answer: OwnAnswer = { status: this.#res.statusCode, headers, body: null, own: true }
    const unheld: OwnAnswer & UnheldAnswer = { ...answer, unheld: true }
    const isUnheld = this.#size > this.#decider.limit || isEventStream(said)
    void this.#decide(isUnheld ? unheld : { ...answer, body: this.#body() })
  }

  async #decide(answer: Answer): Promise<void> {
    this.#state = 'deciding'
    try {
      const outgoing = await this.#decider.complete(answer)
      if (isOwn(outgoing)) this.#send(answer, outgoing)
      else this.replace(outgoing)
    } catch (error) {
      this.#decider.onError(error)
    }
  }

  #send(answer: Answer, outgoing: Answer): void {
    const isUnheld = 'unheld' in outgoing
    this.#leave(isUnheld ? 'open' : 'stop')
    if (this.#hungUp) return void this.#callAll()
    const kept = new Set(outgoing.headers.map(([name]) => name))
    for (const [name] of answer.headers) if (!kept.has(name)) this.#res.removeHeader(name)
    setHeaders(this.#res, outgoing.headers)
    if (isUnheld) this.#pourOut()
    else this.#res.end(outgoing.body ?? undefined, () => this.#callAll())
  }

  /** What was held so far, then whatever comes. */
  #pourOut(): void {
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

  /** An answer goes out: the response is itself again. */
  #leave(how: 'open' | 'stop'): void {
    this.#state = 'gone'
    this.#interception[how]()
    if (this.#hungUp && !this.#destroyed) this.#tellClose()
  }

  /** What a handler was not to know so far: the caller has hung up. */
  #tellClose(): void {
    Object.assign(this.#res, { destroyed: true, _closed: true })
    this.#res.emit('close')
  }

  #callAll(): void {
    for (const { done } of this.#chunks.splice(0)) done?.()
    for (const done of this.#ended.splice(0)) done?.()
  }
}

/** It is here; whoever wrote it may go on. */
function taken(done: Done): true {
  if (done) queueMicrotask(done)
  return true
}
