import { seededRandom } from '../../../src/testing/seeded-random.ts'
import type { ApiFate, CountedKey } from '../support/counting-api.ts'
import type { Crash } from './points.ts'

/** An operation of a page that is about to die. */
export interface Order {
  /** Its own, so that the judge tells operations apart without their keys. */
  readonly path: string
  readonly crash: Crash
  /** Is it the one that stops at the point, or only in flight at the same time? */
  readonly isTarget: boolean
  readonly id?: string
  readonly name?: string
}

/** Where the handlers listen. */
export const NAME = 'charge'
const OTHER_FATES: readonly ApiFate[] = ['hang', 'work-and-hang', 'unavailable', 'answer']
const SHAPES = ['plain', 'id', 'name'] as const

/** Dice that the seed decides. */
export class Dice {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** From 0 to below. */
  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  one<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((one) => ({ one, at: this.#random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one)
  }
}

/** The orders of one page: those that stop at the point, and two or three others that are anywhere. */
export function ordersFor(crash: Crash, page: string, { dice, targets }: { dice: Dice; targets: number }): Order[] {
  const orders: Order[] = []
  const add = (fates: readonly ApiFate[], isTarget: boolean): void => {
    const path = `/${page}/${orders.length}/${fates.join('+')}`
    const shape = isTarget && crash.named ? 'name' : dice.one(SHAPES)
    orders.push({
      path,
      crash,
      isTarget,
      ...(shape === 'id' && { id: path }),
      ...(shape === 'name' && { name: NAME }),
    })
  }
  for (let n = 2 + dice.below(2); n > 0; n--) add([dice.one(OTHER_FATES)], false)
  for (let n = 0; n < targets; n++) add(crash.fates, true)
  return orders
}

/** The judge does as the path says, request by request; after that it answers. */
export function planOf({ path, requests }: CountedKey): ApiFate {
  const fates = (path.split('/').at(-1) ?? '').split('+') as ApiFate[]
  return fates[requests - 1] || 'answer'
}
