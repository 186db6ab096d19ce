import { type InboundContext, inboundContext } from '../foundation/inbound-context.ts'
import { type InboundSource, type RetryContextOptions, serveWithin } from './guard/serve-within.ts'

export interface RetryContexts {
  /**
   * Runs `serve` inside what the request asks: every client used there makes one attempt only where the request says
   * `Do-Not-Retry`, and does not wait longer than its `Request-Timeout-Ms` allows, less a margin (a twentieth, at
   * least 10 ms, at most a second). Inside another request the stricter of both holds.
   *
   * ```ts
   * const answer = await retryContext.run(request, () => handle(request))
   * ```
   */
  run<T>(request: InboundSource, serve: () => T, options?: RetryContextOptions): T
  /** What the request that is being served asks; undefined where none is. */
  current(): InboundContext | undefined
  /** Runs work that goes on after the answer, and that nobody waits for: it is not held to the request's limits. */
  outside<T>(work: () => T): T
}

export const retryContext: RetryContexts = {
  run: serveWithin,
  current: inboundContext.current,
  outside: inboundContext.outside,
}
