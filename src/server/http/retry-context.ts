import { ConfigurationError } from '../../errors/classes.ts'
import { type Clock, systemClock } from '../../foundation/clock.ts'
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

export interface RetryContextOptions extends LimitHeaders {
  /** For tests. Default: the system's. */
  readonly clock?: Clock | undefined
}

export interface RetryContexts {
  /**
   * Runs `serve` inside the limits of the request: every client used there makes one attempt only where the request says
   * `Do-Not-Retry`, and does not wait longer than its `Request-Timeout-Ms` allows, less a margin (a twentieth, at
   * least 10 ms, at most a second). Inside another request the stricter of both holds.
   *
   * ```ts
   * const answer = await retryContext.run(request, () => handle(request))
   * ```
   */
  run<T>(request: InboundSource, serve: () => T, options?: RetryContextOptions): T
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

export function serveWithin<T>(source: InboundSource, work: () => T, options: RetryContextOptions = {}): T {
  return inboundContext.run(contextOf(source, options), work)
}

/** The limits of the request, as of now. */
export function contextOf(source: InboundSource, options: RetryContextOptions = {}): InboundContext {
  const { clock = systemClock } = options
  const own = readLimits(reader(source), options, clock.now())
  const outer = inboundContext.current()
  return outer ? strictest(outer, own) : own
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
