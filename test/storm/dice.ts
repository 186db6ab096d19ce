import type { Random } from '../../src/foundation/random.ts'

export function uniform(low: number, high: number, random: Random): number {
  return low + random() * (high - low)
}

/** The gap between independent arrivals. */
export function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random())
}

export function normal(mean: number, deviation: number, random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()))
  return mean + deviation * radius * Math.cos(2 * Math.PI * random())
}
