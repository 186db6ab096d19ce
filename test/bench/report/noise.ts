import type { Comparison, Results, Section } from '../results.ts'
import { measuredOf, quantile } from './spread.ts'

/**
 * The peer does the same work in each round. Where the middle half of its rounds differs by more than this share, the
 * machine was doing something else, or is too small to tell.
 */
const QUIET = 0.15

/** The interquartile range of the peer's rounds, as a share of their median. */
export function peerSpread(comparison: Comparison): number {
  const { rates } = measuredOf(comparison, comparison.baseline)
  return (quantile(rates, 0.75) - quantile(rates, 0.25)) / quantile(rates, 0.5)
}

export function noisyComparisons({ comparisons = [] }: Section): readonly Comparison[] {
  return comparisons.filter((comparison) => peerSpread(comparison) > QUIET)
}

/** A sentence for each section that was measured while the machine was noisy. */
export function noisySections(results: Results): string[] {
  return Object.entries(results).flatMap(([name, section]) => {
    const noisy = noisyComparisons(section)
    if (noisy.length === 0) return []
    const worst = Math.round(100 * Math.max(...noisy.map(peerSpread)))
    const where = noisy.map(({ title, concurrency }) => `${title} at ${concurrency}`).join('; ')
    return `Noisy machine: in "${name}" the peer's own rounds differ by up to ${worst} % (${where}). Don't trust these numbers.`
  })
}
