import { join } from 'node:path'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import type { Backstage } from './backstage.ts'
import { CuttingProxy, type Fate } from './cutting-proxy.ts'
import { HuntJudge, type HuntVerdict } from './hunt-judge.ts'
import { HuntedProcess } from './hunted-process.ts'
import { pause } from './pause.ts'
import { PretendProvider } from './pretend-provider.ts'

export interface HuntOptions {
  /** For the client's journal. */
  readonly folder: string
  readonly backstage: Backstage
  readonly seed: number
  /** Goes on for at least so long, and until so many operations were accepted. */
  readonly seconds: number
  readonly operations: number
  readonly onProgress?: (line: string) => void
}

export interface HuntResult extends HuntVerdict {
  readonly requests: number
  readonly cuts: number
  readonly doubledRequests: number
  readonly fates: Readonly<Partial<Record<Fate, number>>>
  readonly clientKills: number
  readonly serverKills: number
  readonly freezes: number
  /** Backends of Postgres that were terminated, or how often the SQLite file was locked. */
  readonly storeBlows: number
  /** How often a replica stood still by itself, just before it wanted to write. */
  readonly stalls: number
  /** Processes that ended in an error of their own. */
  readonly crashes: number
  /** Claims that a replica took over from one that was gone. */
  readonly takeovers: number
  /** Claims that a replica had lost when it wanted to write. */
  readonly claimsLost: number
  /** Payments whose answer was completed by asking the provider. */
  readonly reconciled: number
  readonly parked: number
  readonly seconds: number
}

const REPLICAS = ['fetch', 'node', 'node'] as const
/** How many operations the client has at once. */
const AT_ONCE = 24
const MOST_OPEN = 60
const LEASE_MS = 1000
/** How many lines are said, on average, between two blows: a slow machine is hit as often as a fast one. */
const LINES_BETWEEN = 14
const LONGEST_PEACE_MS = 2000

/** Both halves, each in its own process, a network that breaks, and somebody who kills: is anything lost or doubled? */
export async function hunt(options: HuntOptions): Promise<HuntResult> {
  const work = new Hunt(options)
  try {
    return await work.run()
  } finally {
    await work.end()
  }
}

class Hunt {
  readonly #options: HuntOptions
  readonly #random: () => number
  readonly #judge = new HuntJudge()
  readonly #provider: PretendProvider
  readonly #proxy: CuttingProxy
  readonly #shops: HuntedProcess[] = []
  readonly #buyer: HuntedProcess
  readonly #heard = new Map<string, number>()
  readonly #thawing = new Set<Promise<void>>()
  readonly #origins = { shop: '', provider: '' }
  readonly #startedAt = performance.now()
  #lines = 0
  #blows = { clientKills: 0, serverKills: 0, freezes: 0, storeBlows: 0 }

  constructor(options: HuntOptions) {
    this.#options = options
    const { seed, backstage, folder } = options
    this.#random = seededRandom(seed)
    this.#provider = new PretendProvider(seededRandom(`${seed} provider`))
    this.#proxy = new CuttingProxy(seededRandom(`${seed} proxy`), () => this.#shops.flatMap(({ port }) => port ?? []))
    for (const adapter of REPLICAS) {
      const input = () => ({ store: backstage.address, provider: this.#origins.provider, adapter, leaseMs: LEASE_MS })
      this.#shops.push(new HuntedProcess('../hunt/shop-process', input, (said) => this.#hear(said)))
    }
    const input = () => ({ origin: this.#origins.shop, db: join(folder, 'operations.db') })
    this.#buyer = new HuntedProcess('../hunt/buyer-process', input, (said) => this.#hear(said))
  }

  async run(): Promise<HuntResult> {
    this.#origins.provider = await this.#provider.start()
    this.#origins.shop = await this.#proxy.start()
    await Promise.all([this.#buyer, ...this.#shops].map((one) => one.start()))
    await this.#chase()
    await this.#calm()
    const verdict = await this.#judge.judge(this.#options.backstage, this.#provider.charges)
    return { ...verdict, ...this.#blows, ...this.#numbers() }
  }

  async end(): Promise<void> {
    await Promise.all([this.#buyer, ...this.#shops].map((one) => one.kill()))
    this.#proxy.stop()
    this.#provider.stop()
  }

  #numbers() {
    const heard = (is: string): number => this.#heard.get(is) ?? 0
    return {
      requests: this.#proxy.requests,
      cuts: this.#proxy.cuts,
      doubledRequests: this.#proxy.doubles,
      fates: Object.fromEntries(this.#proxy.counts),
      stalls: heard('stalled'),
      crashes: heard('crashed'),
      takeovers: heard('taken over'),
      claimsLost: heard('claim lost'),
      reconciled: heard('reconciled'),
      parked: heard('parked'),
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
    }
  }

  #hear(said: { readonly is: string }): void {
    this.#lines++
    this.#heard.set(said.is, (this.#heard.get(said.is) ?? 0) + 1)
    this.#judge.hear(said)
  }

  async #chase(): Promise<void> {
    const { seconds, operations, onProgress } = this.#options
    const until = this.#startedAt + seconds * 1000
    let tellAt = 0
    while (performance.now() < until || this.#judge.accepted < operations) {
      this.#handOut()
      await this.#someTime()
      await this.#strike()
      if (performance.now() < tellAt) continue
      tellAt = performance.now() + 5000
      onProgress?.(this.#progress())
    }
  }

  /** No more blows: everything that was accepted has to come to its end. */
  async #calm(): Promise<void> {
    this.#proxy.isPeaceful = true
    await Promise.all(this.#thawing)
    const progress = setInterval(() => this.#options.onProgress?.(`finishing: ${this.#progress()}`), 5000)
    try {
      await this.#buyer.finish()
      await this.#proxy.idle()
      await this.#allEnded()
    } finally {
      clearInterval(progress)
    }
  }

  /** What is left of cut-off requests that nobody repeats ends by itself: it has no more than a lease. */
  async #allEnded(): Promise<void> {
    const until = performance.now() + LEASE_MS * 4
    while ((await this.#options.backstage.unfinished()) > 0 && performance.now() < until) await pause(100)
  }

  #handOut(): void {
    // What is given up is left to a resume, and what is killed with its client too: they should not pile up.
    while (this.#buyer.isReady && this.#buyer.posted.size < AT_ONCE && this.#judge.open < MOST_OPEN)
      this.#buyer.post(this.#judge.next())
  }

  /** Until enough was said, or nothing for long, and then a moment more: a blow may come at any time. */
  async #someTime(): Promise<void> {
    const enough = this.#lines - Math.log(1 - this.#random()) * LINES_BETWEEN
    for (let waited = 0; this.#lines < enough && waited < LONGEST_PEACE_MS; waited += 10) {
      await pause(10)
      this.#handOut()
    }
    await pause(this.#random() * 60)
  }

  async #strike(): Promise<void> {
    const luck = this.#random()
    const shop = this.#shops[Math.floor(this.#random() * this.#shops.length)]
    if (luck < 0.25) return this.#killBuyer()
    if (luck < 0.6) return shop && this.#killShop(shop)
    if (luck < 0.75) return shop && this.#freeze(shop)
    if (await this.#options.backstage.strike(this.#random)) this.#blows.storeBlows++
  }

  async #killBuyer(): Promise<void> {
    if (!this.#mayDie(this.#buyer)) return
    this.#blows.clientKills++
    const posted = await this.#buyer.kill()
    this.#judge.giveBack(posted)
    await this.#buyer.start()
  }

  async #killShop(shop: HuntedProcess): Promise<void> {
    if (!this.#mayDie(shop)) return
    this.#blows.serverKills++
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
    this.#blows.freezes++
    const thawed: Promise<void> = shop
      .freeze(LEASE_MS * (1.5 + this.#random() * 4.5))
      .finally(() => this.#thawing.delete(thawed))
    this.#thawing.add(thawed)
  }

  #progress(): string {
    const { clientKills, serverKills, freezes, storeBlows } = this.#blows
    return (
      `${this.#judge.accepted} accepted, ${this.#heard.get('told') ?? 0} told, ${this.#proxy.requests} requests, ` +
      `${this.#proxy.cuts} cuts, kills: ${clientKills} client, ${serverKills} server, ${storeBlows} store, ` +
      `${freezes} freezes, ${this.#heard.get('taken over') ?? 0} takeovers, ${this.#heard.get('reconciled') ?? 0} reconciled`
    )
  }
}
