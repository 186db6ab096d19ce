import type { ResolvedOptions } from './resolved-options.ts'

/**
 * How long an operation may be attempted where the server remembers its key for `windowMs`: the same share of that
 * as the horizon is of `dedupWindow`, but no less than the default third; and never longer than the horizon itself.
 */
export function horizonWithin(
  windowMs: number,
  { horizonMs, dedupWindowMs }: Pick<ResolvedOptions, 'horizonMs' | 'dedupWindowMs'>,
): number {
  return Math.min(horizonMs, Math.floor(windowMs * Math.max(horizonMs / dedupWindowMs, 1 / 3)))
}
