import type { BlowTable } from '../support/blow-table.ts'
import type { Backstage } from './backstage.ts'
import { HAND_WEIGHTS, type HandBlow, type HuntBlow } from './hunt-blows.ts'
import type { HuntedProcess } from './hunted-process.ts'

export interface Victims {
  readonly buyer: HuntedProcess
  readonly shops: readonly HuntedProcess[]
  readonly backstage: Backstage
  readonly leaseMs: number
  /** Told which operations a killed client had not come to the end of. */
  readonly onClientKilled: (posted: readonly number[]) => void
}

/** Deals the blows at processes and stores: those first that have not struck yet, then as the dice fall. */
export class Striker {
  readonly #blows: BlowTable<HuntBlow>
  readonly #victims: Victims
  readonly #random: () => number
  readonly #thawing = new Set<Promise<void>>()

  constructor(blows: BlowTable<HuntBlow>, victims: Victims, random: () => number) {
    this.#blows = blows
    this.#victims = victims
    this.#random = random
  }

  async strike(): Promise<void> {
    const blow = this.#blows.next(this.#random, HAND_WEIGHTS) as HandBlow | undefined
    const { buyer, shops, leaseMs } = this.#victims
    const index = Math.floor(this.#random() * shops.length)
    const shop = shops[index]
    if (!blow || !shop) return
    if (blow === 'client kill') return this.#killBuyer()
    if (blow === 'server kill') return this.#killShop(shop)
    if (blow === 'server freeze') return this.#freeze(shop)
    // These count when the process tells that a call of its store has failed.
    if (blow === 'journal blink') return buyer.say(`blink ${50 + this.#random() * 400}`)
    if (blow === 'ledger blink') return shop.say(`blink ${leaseMs * this.#random() * 1.5}`)
    if (blow === 'late store answer') return shop.say(`late ${leaseMs * this.#random() * 1.5}`)
    const how = this.#victims.backstage.blows[blow]
    if (typeof how !== 'function') return
    const replica = { index, say: (order: string) => shop.say(order) }
    if (await how(this.#random, replica).catch(() => false)) this.#blows.struck(blow)
  }

  /** Resolves when every process is awake again, and every store is well. */
  async healed(): Promise<void> {
    await Promise.all(this.#thawing)
    await this.#victims.backstage.healed()
  }

  async #killBuyer(): Promise<void> {
    const { buyer, onClientKilled } = this.#victims
    if (!this.#mayDie(buyer)) return
    this.#blows.struck('client kill')
    onClientKilled(await buyer.kill())
    await buyer.start()
  }

  async #killShop(shop: HuntedProcess): Promise<void> {
    if (!this.#mayDie(shop)) return
    this.#blows.struck('server kill')
    await shop.kill()
    await shop.start()
  }

  /** Now and then one dies while it starts; mostly they are let come to work. */
  #mayDie(one: HuntedProcess): boolean {
    return one.isReady ? !one.isFrozen : this.#random() < 0.2
  }

  /** Longer than its lease: when it wakes, somebody else may have its work. */
  #freeze(shop: HuntedProcess): void {
    if (!shop.isReady || shop.isFrozen) return
    this.#blows.struck('server freeze')
    const thawed: Promise<void> = shop
      .freeze(this.#victims.leaseMs * (1.5 + this.#random() * 4.5))
      .finally(() => this.#thawing.delete(thawed))
    this.#thawing.add(thawed)
  }
}
