import type { GuardOptions } from './guard-options.ts'

/** A UUID (version 8) made of the operation and a label: stable over attempts, different for each label and scope. */
export function deriveKey(guard: Pick<GuardOptions, 'digest'>, operation: readonly string[]): string {
  const hex = guard.digest(['holdfast derived key', ...operation], null)
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
