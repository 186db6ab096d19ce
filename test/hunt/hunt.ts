import { join } from 'node:path'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { type BlowTable, neverStruck } from '../support/blow-table.ts'
import type { Backstage } from './backstage.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { type HuntBlow, huntBlows, TOLD_BLOWS } from './hunt-blows.ts'
import { HuntJudge, type HuntVerdict } from './hunt-judge.ts'
import { HuntedProcess } from './hunted-process.ts'
import { pause } from './pause.ts'
import { PretendProvider } from './pretend-provider.ts'
import { LEASE_MS, REPLICAS } from './shop-store.ts'
import { Striker } from './striker.ts'

export interface HuntOptions {
  /** For the client's journal. */
  readonly folder: string
  readonly backstage: Backstage
  readonly seed: number
  /** Goes on for at least so long, until so many operations were accepted, and until each blow has struck. */
  readonly seconds: number
  readonly operations: number
  readonly onProgress?: (line: string) => void
}

export interface HuntResult extends HuntVerdict {
  readonly requests: number
  /** How often each blow struck; which ones this hunt has not, and why. */
  readonly blows: Readonly<Record<string, number>>
  readonly notDealt: Readonly<Record<string, string>>
  /** A sentence for each blow that was to strike and did not. */
  readonly neverStruck: readonly string[]
  /** How often a replica stood still by itself, just before it wanted to write. */
  readonly stalls: number
  /** Processes that ended in an error of their own. */
  readonly crashes: number
  /** Failures of the ledger (`ledger.failed`) that were told by a driver's error instead of one of its own. */
  readonly unclear: readonly string[]
  /** Claims that a replica took over from one that was gone. */
  readonly takeovers: number
  /** Claims that a replica had lost when it wanted to write. */
  readonly claimsLost: number
  /** Payments whose answer was completed by asking the provider. */
  readonly reconciled: number
  readonly parked: number
  readonly seconds: number
}

/** How many operations the client has at once. */
const AT_ONCE = 24
const MOST_OPEN = 60
/** How many lines are said, on average, between two blows: a slow machine is hit as often as a fast one. */
const LINES_BETWEEN = 10
const LONGEST_PEACE_MS = 2000
/** How long a blow that has not struck keeps a hunt going beyond its time. */
const LONGEST_OVERTIME_MS = 30_000

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
  readonly #blows: BlowTable<HuntBlow>
  readonly #striker: Striker
  readonly #provider: PretendProvider
  readonly #proxy: CuttingProxy
  readonly #shops: HuntedProcess[] = []
  readonly #buyer: HuntedProcess
  readonly #heard = new Map<string, number>()
  readonly #unclear: string[] = []
  readonly #origins = { shop: '', provider: '' }
  readonly #startedAt = performance.now()
  #lines = 0

  constructor(options: HuntOptions) {
    this.#options = options
    const { seed, backstage, folder } = options
    this.#random = seededRandom(seed)
    this.#blows = huntBlows(backstage)
    this.#provider = new PretendProvider(seededRandom(`${seed} provider`))
    const ports = (): number[] => this.#shops.flatMap(({ port }) => port ?? [])
    this.#proxy = new CuttingProxy(this.#blows, seededRandom(`${seed} proxy`), ports)
    for (const [replica, adapter] of REPLICAS.entries()) {
      const store = backstage.addressOf(replica)
      const input = () => ({ store, provider: this.#origins.provider, adapter, leaseMs: LEASE_MS })
      this.#shops.push(new HuntedProcess('../hunt/shop-process', input, (said) => this.#hear(said)))
    }
    const input = () => ({ origin: this.#origins.shop, db: join(folder, 'operations.db') })
    this.#buyer = new HuntedProcess('../hunt/buyer-process', input, (said) => this.#hear(said))
    const onClientKilled = (posted: readonly number[]): void => this.#judge.giveBack(posted)
    const victims = { buyer: this.#buyer, shops: this.#shops, backstage, leaseMs: LEASE_MS, onClientKilled }
    this.#striker = new Striker(this.#blows, victims, this.#random)
  }

  async run(): Promise<HuntResult> {
    this.#origins.provider = await this.#provider.start()
    this.#origins.shop = await this.#proxy.start()
    await Promise.all([this.#buyer, ...this.#shops].map((one) => one.start()))
    await this.#chase()
    await this.#calm()
    const { backstage } = this.#options
    const { answers } = this.#proxy
    const verdict = await this.#judge.judge({ backstage, charges: this.#provider.charges, answers })
    const { counts, notDealt } = this.#blows
    return { ...verdict, blows: counts, notDealt, neverStruck: neverStruck(counts), ...this.#numbers() }
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
      stalls: heard('stalled'),
      crashes: heard('crashed'),
      unclear: this.#unclear,
      takeovers: heard('taken over'),
      claimsLost: heard('claim lost'),
      reconciled: heard('reconciled'),
      parked: heard('parked'),
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
    }
  }

  #hear(said: { readonly is: string; readonly message?: string }): void {
    const { is, message } = said
    if (is === 'unclear failure') this.#unclear.push(message ?? '')
    if (TOLD_BLOWS.has(is)) this.#blows.struck(is as HuntBlow)
    else this.#lines++
    this.#heard.set(is, (this.#heard.get(is) ?? 0) + 1)
    this.#judge.hear(said)
  }

  async #chase(): Promise<void> {
    const { onProgress } = this.#options
    let tellAt = 0
    while (!this.#isOver()) {
      this.#handOut()
      await this.#someTime()
      await this.#striker.strike()
      if (performance.now() < tellAt) continue
      tellAt = performance.now() + 5000
      onProgress?.(this.#progress())
    }
  }

  #isOver(): boolean {
    const { seconds, operations } = this.#options
    const overtimeMs = performance.now() - this.#startedAt - seconds * 1000
    if (overtimeMs < 0 || this.#judge.accepted < operations) return false
    return this.#blows.due.length === 0 || overtimeMs > LONGEST_OVERTIME_MS
  }

  /** No more blows: everything that was accepted has to come to its end. */
  async #calm(): Promise<void> {
    this.#proxy.isPeaceful = true
    await this.#striker.healed()
    const progress = setInterval(() => this.#options.onProgress?.(`finishing: ${this.#progress()}`), 5000)
    try {
      // A client whose journal blinked holds leases that it has no use for; those of a dead one are taken at once.
      await this.#buyer.kill()
      await this.#buyer.start()
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

  #progress(): string {
    const blows = Object.entries(this.#blows.counts).map(([blow, count]) => `${blow} ${count}`)
    const told = this.#heard.get('told') ?? 0
    return `${this.#judge.accepted} accepted, ${told} told, ${this.#proxy.requests} requests; ${blows.join(', ')}`
  }
}
