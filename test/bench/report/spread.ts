import type { Comparison, Measured } from '../results.ts'

/** Of several rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(numbers: readonly number[]): Spread {
  return { median: quantile(numbers, 0.5), min: Math.min(...numbers), max: Math.max(...numbers) }
}

/** The nearest of the numbers themselves: no number is made up. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function measuredOf({ measured, title }: Comparison, name: string): Measured {
  const found = measured.find((candidate) => candidate.name === name)
  if (!found) throw new Error(`${name} was not measured in "${title}"`)
  return found
}

/** What `name` reaches of what `baseline` reaches in the same round. */
export function ratioOf(comparison: Comparison, name: string, baseline = comparison.baseline): Spread {
  const peer = measuredOf(comparison, baseline).rates
  return spreadOf(measuredOf(comparison, name).rates.map((rate, round) => rate / (peer[round] ?? Number.NaN)))
}
