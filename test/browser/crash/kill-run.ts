import { BlowTable, neverStruck } from '../../support/blow-table.ts'
import { countingApi } from '../support/counting-api.ts'
import { servePages } from '../support/serve-pages.ts'
import { openGate } from './gate.ts'
import { Dice, type Order, ordersFor, planOf } from './orders.ts'
import { type Crash, crashes } from './points.ts'
import { judge, type Verdict } from './verdict.ts'
import { pause, type Scene, until, type Victim, Victims, type Way } from './victims.ts'

export interface KillRunOptions {
  readonly way: Way
  readonly seed: number
  /** Undefined: each point once. */
  readonly kills?: number | undefined
  readonly onProgress?: (line: string) => void
}

export interface KillRunResult extends Verdict {
  readonly kills: number
  /** How often a page was killed at each point, and a sentence for each point that was left out. */
  readonly blows: Readonly<Record<string, number>>
  readonly neverStruck: readonly string[]
  /** Points at which nobody stood when the kill came. */
  readonly unreached: readonly string[]
  /** What was not settled as a success in the end, by its status. */
  readonly unsettled: readonly string[]
  readonly complaints: readonly string[]
  /** How long it took, each time, until a neighbour had finished what a killed page had left. */
  readonly takeoversMs: readonly number[]
}

/** Pages that die together; what they left is finished by one page. */
type Round = readonly Crash[]

/** How many pages a round has, but for one more that may come on top. */
const TOGETHER: Record<Way, number> = { browser: 4, renderer: 4 }

/** Kills pages at the points of the write path, again and again on one profile, and has others finish their work. */
export async function killRun(options: KillRunOptions): Promise<KillRunResult> {
  const pages = await servePages()
  const [api, gate] = [await countingApi({ plan: planOf }), await openGate()]
  const { way, seed } = options
  const run = new KillRun({ api, gate, url: pages.origin + pages.page(), way, dice: new Dice(seed) }, options)
  await run.all()
  const { kills, blows, unreached, unsettled, takeoversMs } = run
  const struck = { blows: blows.counts, neverStruck: run.passes > 0 ? neverStruck(blows.counts) : [] }
  const rest = { unreached, unsettled, complaints: api.complaints, takeoversMs }
  return { ...judge(run.orders, api, gate), kills, ...struck, ...rest }
}

class KillRun {
  readonly orders: Order[] = []
  readonly unreached: string[] = []
  readonly unsettled: string[] = []
  readonly takeoversMs: number[] = []
  readonly blows = new BlowTable<string>(Object.fromEntries(crashes.map(({ title }) => [title, 'dealt' as const])))
  kills = 0
  /** How often all points were gone through. */
  passes = 0
  readonly #scene: Scene
  readonly #victims: Victims
  readonly #options: KillRunOptions
  #rounds = 0

  constructor(scene: Scene, options: KillRunOptions) {
    this.#scene = scene
    this.#victims = new Victims(scene)
    this.#options = options
  }

  async all(): Promise<void> {
    const { kills, onProgress } = this.#options
    do {
      for (const round of this.#plan()) {
        if (kills !== undefined && this.kills >= kills) return
        await this.#round(round)
        onProgress?.(`${this.kills} kills, ${this.orders.length} operations`)
        // What is wrong is best looked at by itself.
        if (this.#isUnclean()) return
      }
      this.passes++
    } while (kills !== undefined)
  }

  #isUnclean(): boolean {
    const { lost, doubled, changed, untold, misled, miscounted } = judge(this.orders, this.#scene.api, this.#scene.gate)
    return [lost, doubled, changed, untold, misled, miscounted, this.unreached, this.unsettled].some(
      ({ length }) => length > 0,
    )
  }

  /** Every point once, in another order each time. Who resumes takes all that it finds, so those are alone. */
  #plan(): Round[] {
    const { dice, way } = this.#scene
    const shuffled = dice.shuffled(crashes)
    const simple = shuffled.filter(({ resumerPoint, isWriting }) => !resumerPoint && !isWriting)
    const rounds: Crash[][] = []
    while (simple.length > 0) rounds.push(simple.splice(0, TOGETHER[way]))
    // One at most that nobody can write beside, and that one comes last.
    for (const [at, crash] of shuffled.filter(({ isWriting }) => isWriting).entries()) rounds[at]?.push(crash)
    return dice.shuffled([...rounds, ...shuffled.filter(({ resumerPoint }) => resumerPoint).map((crash) => [crash])])
  }

  async #round(round: Round): Promise<void> {
    const namespace = `round-${this.#rounds++}`
    const [resumed] = round.filter(({ resumerPoint }) => resumerPoint)
    // A neighbour that watches all the time; unless it would be faster than the one that is to be killed.
    const neighbour = this.#scene.way === 'renderer' && !resumed ? await this.#watch(namespace) : undefined
    const orders: Order[] = []
    const victims = []
    for (const crash of round) victims.push(await this.#bring(crash, namespace, orders))
    const killedAt = performance.now()
    this.kills += await this.#victims.kill(victims)
    for (const { title } of round) this.blows.struck(title)
    if (resumed?.resumerPoint) {
      const resumer = await this.#victims.open(namespace)
      await this.#victims.bringResumerTo(resumed.resumerPoint, resumer, orders).catch(this.#note)
      this.kills += await this.#victims.kill([resumer])
    }
    const heir = neighbour ?? (await this.#watch(namespace))
    await this.#settled(heir, orders)
    if (neighbour) this.takeoversMs.push(Math.round(performance.now() - killedAt))
    await heir.client.tab.page.close()
  }

  async #bring(crash: Crash, namespace: string, all: Order[]): Promise<Victim> {
    const { dice } = this.#scene
    const victim = await this.#victims.open(namespace)
    // One alone is exactly where it should be; the long form also has two at once.
    const targets = this.#options.kills === undefined ? 1 : 1 + dice.below(2)
    const orders = ordersFor(crash, victim.name, { dice, targets })
    all.push(...orders)
    this.orders.push(...orders)
    await this.#victims.bringTo(crash.point, victim, orders).catch(this.#note)
    return victim
  }

  /** It is killed where it is. */
  readonly #note = (error: Error): void => void this.unreached.push(error.message)

  async #watch(namespace: string): Promise<Victim> {
    const heir = await this.#victims.open(namespace)
    await heir.client.tab.ask('keepResuming', heir.client.number)
    return heir
  }

  /** Waits until nothing is left to do. Where that does not come, the verdict says what it was. */
  async #settled({ client }: Victim, orders: readonly Order[]): Promise<void> {
    const { api, gate } = this.#scene
    const list = (status: 'pending' | 'failed' | 'rejected' | 'expired' | 'cancelled'): Promise<string[]> =>
      client.tab.ask('keys', client.number, { status })
    await until('everything settled', async () => {
      const { lost, untold } = judge(orders, api, gate)
      return lost.length + untold.length === 0 && (await list('pending')).length === 0
    }).catch(() => {})
    // Long enough for a second request to show itself.
    await pause(200)
    for (const status of ['pending', 'failed', 'rejected', 'expired', 'cancelled'] as const)
      for (const key of await list(status)) this.unsettled.push(`${status}: ${api.keys.get(key)?.path ?? key}`)
  }
}
