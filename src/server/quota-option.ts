import { refuseOption } from '../configuration/option-checks.ts'
import { type Quota, ScopeQuota } from './guard/scope-quota.ts'

export function checkQuota(option: string, value: unknown): Quota | false {
  if (typeof value === 'function' || value === false || value === Number.POSITIVE_INFINITY)
    return value as Quota | false
  if (Number.isInteger(value) && Number(value) >= 1) return value as number
  return refuseOption(option, 'a whole number of at least 1, or a function from a scope to one, or false', value)
}

/** Keys of one scope. None for a constant scope: there a flood by one caller would lock all of them out. */
export function defaultQuota(scope: unknown): Quota | false {
  return typeof scope === 'function' ? 1_000_000 : false
}

export function scopeQuota(
  quota: Quota | false,
  warn: ((sentence: string) => void) | undefined,
): ScopeQuota | undefined {
  if (quota === false) return undefined
  const onNearlyFull = (limit: number): void =>
    warn?.(
      `A scope of the ledger holds more than four fifths of the ${limit} keys that it may by default. More new keys ` +
        'are refused with 429: set the option `quota`, or `quota: false`',
    )
  return new ScopeQuota({ quota, onNearlyFull })
}
