import type { InboundContext } from '../foundation/inbound-context.ts'
import { HEADER } from './header-names.ts'
import { saysTrue } from './headers.ts'

/** As an outer layer, or a caller of ours, says them: not all of them need be said. */
type SomeLimits = { readonly [Limit in keyof InboundContext]?: InboundContext[Limit] | undefined }

/** The stricter of two. */
export function strictest(a: SomeLimits, b: SomeLimits): InboundContext {
  const deadlines = [a.deadlineAt, b.deadlineAt].filter((at) => at !== undefined)
  return {
    doNotRetry: a.doNotRetry === true || b.doNotRetry === true,
    deadlineAt: deadlines.length > 0 ? Math.min(...deadlines) : undefined,
  }
}

/** Under which names a request says its limits. */
export interface LimitHeaders {
  /** Default `'Do-Not-Retry'`. */
  readonly doNotRetry?: string | undefined
  /** Default `'Request-Timeout-Ms'`. */
  readonly timeout?: string | undefined
}

/** The limits that a request brings along. What makes no sense is as good as not said; where it is said twice, the stricter holds. */
export function readLimits(
  headerOf: (name: string) => string | undefined,
  names: LimitHeaders,
  now: number,
): InboundContext {
  const { doNotRetry = HEADER.doNotRetry, timeout = HEADER.requestTimeoutMs } = names
  const left = wordsOf(headerOf(timeout)).filter(isMilliseconds).map(Number)
  return {
    doNotRetry: wordsOf(headerOf(doNotRetry)).some(saysTrue),
    deadlineAt: left.length > 0 ? now + lessMargin(Math.min(...left)) : undefined,
  }
}

function wordsOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(',').map((word) => word.trim())
}

function isMilliseconds(word: string): boolean {
  return /^\d{1,15}$/.test(word)
}

/** Our own answer has to travel back in time: a twentieth is kept for it, at least 10 ms and at most a second. */
function lessMargin(ms: number): number {
  return Math.max(0, ms - Math.min(1000, Math.max(10, Math.ceil(ms / 20))))
}
