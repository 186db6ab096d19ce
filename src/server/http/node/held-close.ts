import type { ServerResponse } from 'node:http'
import { isHttp1 } from './intercept-response.ts'

/** The `close` of a response that its handler is not to hear of yet: a pipeline would stop at a closed response. */
export class HeldClose {
  readonly #res: ServerResponse
  #isHeld = false

  constructor(res: ServerResponse) {
    this.#res = res
  }

  hold(): void {
    this.#isHeld = true
    this.#setClosed(false)
  }

  /** Now the handler may know that the caller has hung up. */
  emit(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#setClosed(true)
    this.#res.emit('close')
  }

  #setClosed(closed: boolean): void {
    if (isHttp1(this.#res)) Object.assign(this.#res, { destroyed: closed, _closed: closed })
  }
}
