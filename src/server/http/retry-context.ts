import { checkDuration } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { type Clock, systemClock } from '../../foundation/clock.ts'
import type { Duration } from '../../foundation/duration.ts'
import { type InboundContext, inboundContext } from '../../foundation/inbound-context.ts'
import { type LimitHeaders, readLimits, strictest } from '../../protocol/call-limits.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** Header fields in any of the shapes that servers have them in. Names in any letter case. */
export type HeaderSource =
  | { get(name: string): string | null }
  | HeaderList
  | { readonly [name: string]: string | readonly string[] | undefined }

/** A request that is being served (fetch's, `node:http`'s, or anything with `headers`), or its headers alone. */
export type InboundSource = HeaderSource | { readonly headers: HeaderSource }

/** `Source` is the framework's request. */
export interface RetryContextOptions<Source = InboundSource> extends LimitHeaders {
  /**
   * Whose limits hold? Those of a request that is not trusted are ignored. A caller from outside could otherwise end the
   * calls of your service at a moment of its choice, which leaves their outcome unknown. Default: every request is trusted.
   *
   * @example trust: (request) => request.headers['x-internal'] === process.env.INTERNAL
   */
  readonly trust?: { call(request: Source): boolean }['call'] | undefined
  /**
   * The least time that a request may leave to the calls made for it, if it leaves any: one that leaves less gets this
   * much. Default `'100ms'`.
   */
  readonly minTimeout?: Duration | undefined
  /** For tests. Default: the system's. */
  readonly clock?: Clock | undefined
}

export interface RetryContexts {
  /**
   * Runs `serve` inside the limits of the request: every client used there makes one attempt only if the request says
   * `Do-Not-Retry`, and does not wait longer than its `Request-Timeout-Ms` allows, less a margin (a twentieth, at
   * least 10 ms, at most a second), but at least `minTimeout`. Inside another request the stricter of both holds.
   *
   * ```ts
   * const answer = await retryContext.run(request, () => handle(request))
   * ```
   */
  run<T, Source extends InboundSource>(request: Source, serve: () => T, options?: RetryContextOptions<Source>): T
  /** The limits of the request that is being served; undefined where none is. */
  current(): InboundContext | undefined
  /** Runs work that goes on after the answer, outside of the request's limits. */
  outside<T>(work: () => T): T
}

export const retryContext: RetryContexts = {
  run: serveWithin,
  current: inboundContext.current,
  outside: inboundContext.outside,
}

export function serveWithin<T, Source extends InboundSource>(
  source: Source,
  work: () => T,
  options: RetryContextOptions<Source> = {},
): T {
  return inboundContext.run(contextOf(source, options), work)
}

/** The limits of the request, as of now. */
export function contextOf<Source extends InboundSource>(
  source: Source,
  options: RetryContextOptions<Source> = {},
): InboundContext {
  const { clock = systemClock, trust, minTimeout = MIN_TIMEOUT_MS } = options
  const headerOf = reader(source)
  const now = clock.now()
  const isTrusted = trust === undefined || trust(source) === true
  const limits = readLimits(isTrusted ? headerOf : () => undefined, options, now)
  const own = withFloor(limits, now, checkDuration('minTimeout', minTimeout))
  const outer = inboundContext.current()
  return outer ? strictest(outer, own) : own
}

const MIN_TIMEOUT_MS = 100

/** If no time is left at all, nothing is sent, and nothing is unknown: that stays. */
function withFloor(limits: InboundContext, now: number, floorMs: number): InboundContext {
  const { deadlineAt } = limits
  if (deadlineAt === undefined || deadlineAt <= now) return limits
  return { ...limits, deadlineAt: Math.max(deadlineAt, now + floorMs) }
}

function reader(source: InboundSource): (name: string) => string | undefined {
  if (!isRecord(source)) throw new ConfigurationError('A request, or its headers, is needed for its retry context')
  const headers = 'headers' in source && isRecord(source.headers) ? source.headers : source
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers
    return (name) => get.call(headers, name) ?? undefined
  }
  const fields = Symbol.iterator in headers ? [...(headers as HeaderList)] : Object.entries(headers)
  return (name) => joinedValues(fields.filter(([field]) => field.toLowerCase() === name.toLowerCase()))
}

/** Fields of one name are joined with a comma, as HTTP has it. */
function joinedValues(fields: readonly (readonly [string, unknown])[]): string | undefined {
  const values = fields.flatMap(([, value]) => value).filter((value) => value !== undefined && value !== null)
  return values.length > 0 ? values.join(', ') : undefined
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
