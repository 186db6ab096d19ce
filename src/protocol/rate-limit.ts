import { type HeaderList, headerValue } from './headers.ts'
import { resetDelayMs } from './server-timing.ts'

/** What a server says of the quota that its client has left. */
export interface Quota {
  readonly remaining: number
  /** Until it begins anew. */
  readonly resetMs: number
  /** All of it, if the server says so. */
  readonly limit: number | undefined
}

/** The names of the older forms, in pairs of what is left and when it begins anew. */
const OLDER = ['ratelimit', 'x-ratelimit'] as const

/**
 * The quota of `RateLimit` and `RateLimit-Policy` (the IETF draft: `"default";r=50;t=30`), of its older drafts
 * (`limit=100, remaining=50, reset=30`, or `RateLimit-Remaining`), or of `X-RateLimit-Remaining`. Undefined if the answer names
 * none, or if it makes no sense.
 */
export function readQuota(headers: HeaderList, now: number): Quota | undefined {
  if (!namesQuota(headers)) return undefined
  return readDraft(headers) ?? readDictionary(headers) ?? readOlder(headers, now)
}

/** On the way of every answer. */
function namesQuota(headers: HeaderList): boolean {
  for (const [name] of headers) if (name.includes('ratelimit')) return true
  return false
}

function readDraft(headers: HeaderList): Quota | undefined {
  const items = (headerValue(headers, 'ratelimit') ?? '').split(',').map(readItem)
  const policies = (headerValue(headers, 'ratelimit-policy') ?? '').split(',').map(readItem)
  const quotas = items.flatMap(({ name, r, t }): Quota[] => {
    if (r === undefined || t === undefined) return []
    return [{ remaining: r, resetMs: t * 1000, limit: policies.find((policy) => policy.name === name)?.q }]
  })
  // Of several quotas the one that is used up first counts.
  return quotas.sort((one, other) => one.remaining / one.resetMs - other.remaining / other.resetMs)[0]
}

interface Item {
  readonly name: string
  readonly r?: number | undefined
  readonly t?: number | undefined
  readonly q?: number | undefined
}

function readItem(item: string): Item {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
  const numbers: Record<string, number> = {}
  for (const parameter of parameters) {
    const [, key, digits] = /^([a-z]+)=(\d{1,15})$/.exec(parameter) ?? []
    if (key) numbers[key] = Number(digits)
  }
  return { name, r: numbers.r, t: numbers.t, q: numbers.q }
}

/** The drafts from 3 to 7 have one quota, in one header. */
function readDictionary(headers: HeaderList): Quota | undefined {
  const members = (headerValue(headers, 'ratelimit') ?? '').split(',').map((member) => member.trim().split('='))
  const numberOf = (name: string): number | undefined => wholeOf(members.find(([key]) => key === name)?.[1])
  const [remaining, reset] = [numberOf('remaining'), numberOf('reset')]
  if (remaining === undefined || reset === undefined) return undefined
  return { remaining, resetMs: reset * 1000, limit: numberOf('limit') }
}

function readOlder(headers: HeaderList, now: number): Quota | undefined {
  for (const prefix of OLDER) {
    const remaining = wholeOf(headerValue(headers, `${prefix}-remaining`))
    const resetMs = resetDelayMs(headers, `${prefix}-reset`, now)
    if (remaining === undefined || resetMs === undefined) continue
    return { remaining, resetMs, limit: wholeOf(headerValue(headers, `${prefix}-limit`)) }
  }
  return undefined
}

function wholeOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value.trim()) ? Number(value) : undefined
}
