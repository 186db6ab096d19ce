import { ServerResponse } from 'node:http'
import type { Answer } from '../port.ts'
import { type Done, interceptResponse, type ResponseListener, taken } from './intercept-response.ts'
import { responseHeaders } from './send-answer.ts'

const METHODS = [
  'writeHead',
  'write',
  'end',
  'flushHeaders',
  'setHeader',
  'appendHeader',
  'removeHeader',
  'getHeader',
  'getHeaders',
  'getHeaderNames',
  'hasHeader',
] as const
const PROPERTIES = ['statusCode', 'statusMessage', 'headersSent', 'writableEnded'] as const

/**
 * The answer that a handler gives although its request has been answered in its place, by a timeout for example. The
 * handler sees a response that is still to be sent; nothing of it reaches the caller.
 */
export class LateResponse implements ResponseListener {
  readonly #unsent: ServerResponse
  readonly #chunks: Buffer[] = []
  readonly #onEnd: () => void
  headersSent = false
  writableEnded = false

  constructor(res: ServerResponse, onEnd: () => void) {
    this.#onEnd = onEnd
    this.#unsent = new ServerResponse(res.req)
    interceptResponse(this.#unsent, this)
    // Not earlier: whoever logs the answer reads its status when the response closes.
    if (res.closed) this.#replace(res)
    else res.once('close', () => this.#replace(res))
  }

  /** Undefined: the handler has given none. */
  get answer(): Answer | undefined {
    if (!this.writableEnded) return undefined
    const body = this.#chunks.length === 0 ? null : Buffer.concat(this.#chunks)
    return { status: this.#unsent.statusCode, headers: responseHeaders(this.#unsent), body }
  }

  passes(): boolean {
    return false
  }

  takesHeaders(): boolean {
    return true
  }

  head(): void {
    this.headersSent = true
  }

  write(chunk: Buffer | undefined, done: Done): boolean {
    this.headersSent = true
    if (chunk && !this.writableEnded) this.#chunks.push(chunk)
    return taken(done)
  }

  end(chunk: Buffer | undefined, done: Done): void {
    this.write(chunk, done)
    if (this.writableEnded) return
    this.writableEnded = true
    this.#onEnd()
  }

  destroys(): void {}

  closes(): boolean {
    return true
  }

  /** Redirects what the handler uses of its response. */
  #replace(res: ServerResponse): void {
    const unsent = this.#unsent
    for (const name of METHODS) {
      const method = unsent[name] as (...given: unknown[]) => unknown
      Object.assign(res, {
        [name]: (...given: unknown[]) => {
          const returned = method.apply(unsent, given)
          return returned === unsent ? res : returned
        },
      })
    }
    for (const name of PROPERTIES) {
      const set = (value: unknown): void => void Object.assign(unsent, { [name]: value })
      Object.defineProperty(res, name, { configurable: true, get: () => unsent[name], set })
    }
  }
}
