import { ConfigurationError } from '../../errors/classes.ts'
import { type Clock, systemClock } from '../../foundation/clock.ts'
import { type InboundContext, inboundContext } from '../../foundation/inbound-context.ts'
import { type LimitHeaders, readLimits, strictest } from '../../protocol/call-limits.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** Header fields in any of the shapes that servers have them in. Names may come in any letter case. */
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

/** Runs the work inside what the request asks; inside another request, the stricter of both holds. */
export function serveWithin<T>(source: InboundSource, work: () => T, options: RetryContextOptions = {}): T {
  return inboundContext.run(contextOf(source, options), work)
}

/** What the request asks, as of now. */
export function contextOf(source: InboundSource, options: RetryContextOptions = {}): InboundContext {
  const { clock = systemClock } = options
  const own = readLimits(reader(source), options, clock.now())
  const outer = inboundContext.current()
  return outer ? strictest(outer, own) : own
}

function reader(source: InboundSource): (name: string) => string | undefined {
  if (!isObject(source)) throw new ConfigurationError('A request, or its headers, is needed for its retry context')
  const headers = 'headers' in source && isObject(source.headers) ? source.headers : source
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers
    return (name) => get.call(headers, name) ?? undefined
  }
  const fields = Symbol.iterator in headers ? [...(headers as HeaderList)] : Object.entries(headers)
  return (name) => joined(fields.filter(([field]) => field.toLowerCase() === name.toLowerCase()))
}

/** Several fields of one name are joined as HTTP says. */
function joined(fields: readonly (readonly [string, unknown])[]): string | undefined {
  const values = fields.flatMap(([, value]) => value).filter((value) => value !== undefined && value !== null)
  return values.length > 0 ? values.join(', ') : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
