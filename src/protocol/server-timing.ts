import { type HeaderList, headerValue } from './headers.ts'
import { parseHttpDate } from './http-date.ts'

/** A reset that is at least this (2024-01-01) is a point in time, not a number of seconds to wait. */
const EPOCH_SECONDS_FROM = 1_704_067_200
const EPOCH_MS_FROM = EPOCH_SECONDS_FROM * 1000

/** Longer than any horizon, and added to any `now` still a finite, valid time. */
const LONGEST_MS = 1e15

type Reader = (value: string, now: number) => number | undefined

/** First found wins. */
const SOURCES: readonly (readonly [name: string, read: Reader])[] = [
  ['retry-after-ms', readMilliseconds],
  ['retry-after', readRetryAfter],
  ['ratelimit-reset', readReset],
  ['x-ratelimit-reset', readReset],
]

/**
 * How long the server asks us to stay away, in milliseconds, or undefined where it does not say.
 * A value that is there but makes no sense loses the timing; it does not promote the next header.
 */
export function serverDelayMs(headers: HeaderList, ourNow: number): number | undefined {
  const now = serverNow(headers, ourNow)
  for (const [name, read] of SOURCES) {
    const value = headerValue(headers, name)
    if (value !== undefined) return bounded(read(value.trim(), now))
  }
  return undefined
}

/** How long it takes until the quota of this header begins anew. */
export function resetDelayMs(headers: HeaderList, name: string, ourNow: number): number | undefined {
  const value = headerValue(headers, name)
  return value === undefined ? undefined : bounded(readReset(value.trim(), serverNow(headers, ourNow)))
}

/** A point in time is one of the server's clock, which `Date` tells; ours may be wrong. */
function serverNow(headers: HeaderList, ourNow: number): number {
  return parseHttpDate(headerValue(headers, 'date') ?? '', ourNow) ?? ourNow
}

/** Rounded up: never earlier than asked. */
function bounded(delay: number | undefined): number | undefined {
  return delay === undefined ? undefined : Math.min(Math.ceil(Math.max(0, delay)), LONGEST_MS)
}

function readMilliseconds(value: string): number | undefined {
  return readDecimal(value)
}

/** Whole seconds, as RFC 9110 has it, or a date. `1.5`, `1e1`, `0x10` and `-5` are neither. */
function readRetryAfter(value: string, now: number): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = parseHttpDate(value, now)
  return at === undefined ? undefined : at - now
}

/** Seconds to wait or, from the servers that mean it so, a point in time in seconds or milliseconds. */
function readReset(value: string, now: number): number | undefined {
  const reset = readDecimal(value)
  if (reset === undefined) return undefined
  if (reset >= EPOCH_MS_FROM) return reset - now
  if (reset >= EPOCH_SECONDS_FROM) return reset * 1000 - now
  return reset * 1000
}

function readDecimal(value: string): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}
