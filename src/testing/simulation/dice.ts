import { seededRandom } from '../seeded-random.ts'

/** Dice for one purpose. Each purpose has its own, so that taking one fault away leaves every other throw as it was. */
export interface Dice {
  readonly random: () => number
  chance(probability: number): boolean
  /** A whole number, both ends included. */
  between(low: number, high: number): number
  pick<T>(from: readonly T[]): T
}

export function diceFor(seed: number | string, purpose: string): Dice {
  const random = seededRandom(`${seed} ${purpose}`)
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1))
  return {
    random,
    between,
    chance: (probability) => random() < probability,
    pick: (from) => from[between(0, from.length - 1)] as (typeof from)[number],
  }
}
