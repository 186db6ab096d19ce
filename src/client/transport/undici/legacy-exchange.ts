import type { Hop } from '../redirect.ts'
import { Exchange, type Sending } from './exchange.ts'
import { fromRawHeaders } from './wire-format.ts'

/**
 * Understands both kinds of undici's handlers, for dispatchers that come from another copy of undici than ours: version
 * 6 and the one in Node 20 call the methods below, version 8 only those of `Exchange`, version 7 prefers those.
 */
export class LegacyExchange extends Exchange {
  #paused = false
  #resume: (() => void) | undefined

  onConnect(abort: (reason?: Error) => void): void {
    this.onRequestStart({
      abort,
      pause: () => {
        this.#paused = true
      },
      resume: () => {
        if (!this.#paused) return
        this.#paused = false
        this.#resume?.()
      },
    })
  }

  // biome-ignore lint/complexity/useMaxParams: undici calls it so
  onHeaders(status: number, raw: readonly (Uint8Array | string)[], resume: () => void, statusText = ''): boolean {
    this.#resume = resume
    this.receiveHead({ status, statusText, headers: fromRawHeaders(raw) })
    return !this.#paused
  }

  onData(chunk: Uint8Array): boolean {
    this.onResponseData(undefined, chunk)
    return !this.#paused
  }

  onComplete(): void {
    this.onResponseEnd()
  }

  onError(error: unknown): void {
    this.onResponseError(undefined, error)
  }

  protected override next(sending: Sending, hop: Hop): Exchange {
    return new LegacyExchange(sending, hop)
  }
}
