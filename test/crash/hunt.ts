import { join } from 'node:path'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { type BlowTable, neverStruck } from '../support/blow-table.ts'
import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import { CRASH_WEIGHTS, type CrashBlow, crashBlows, type PlaceBlow } from './hunt-blows.ts'
import { type Heard, Ledger, type Verdict } from './hunt-ledger.ts'
import { HuntedWorker } from './hunted-worker.ts'
import type { JournalPlace } from './journal-place.ts'
import { KilledServer } from './killed-server.ts'
import { TakeoverTimes } from './takeover-times.ts'

export interface HuntOptions {
  /** For what the server has done. */
  readonly folder: string
  readonly place: JournalPlace
  readonly operations: number
  readonly processes: number
  readonly seed: number
  /** How many lines the processes say, on average, between two blows: a slow machine is hit as often as a fast one. */
  readonly killEvery: number
  /** Goes on for at least this long, with as many operations as fit in, and until each blow has struck. */
  readonly minutes?: number
  readonly onProgress?: (line: string) => void
}

export interface HuntResult extends Verdict {
  /** How often each blow struck; which ones this hunt has not, and why. */
  readonly blows: Readonly<Record<string, number>>
  readonly notDealt: Readonly<Record<string, string>>
  /** A sentence for each blow that was to strike and did not. */
  readonly neverStruck: readonly string[]
  readonly takeovers: number
  /** How long the work of a dead process lay idle. */
  readonly takeoverTimes: TakeoverTimes
  readonly parked: number
  readonly requests: number
  readonly seconds: number
}

/** How many operations a process has at once. */
const AT_ONCE = 6
const LONGEST_PEACE_MS = 3000
/** How long a blow that has not struck keeps a hunt going beyond its time. */
const LONGEST_OVERTIME_MS = 30_000

/** Several processes, one journal, a flaky server, and somebody who kills: is anything lost or done twice? */
export async function hunt(options: HuntOptions): Promise<HuntResult> {
  const startedAt = performance.now()
  const server = await KilledServer.start(join(options.folder, 'effects'), options.seed)
  const work = new Hunt(options, server)
  await work.run()
  const parked = await work.finish()
  const report = await server.report()
  await server.stop()
  const { takeovers, takeoverTimes, blows } = work
  blows.struck('cut before', report.fates.reset ?? 0)
  blows.struck('cut after', report.fates.lose ?? 0)
  const { counts, notDealt } = blows
  const struck = { blows: counts, notDealt, neverStruck: neverStruck(counts) }
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return {
    ...work.ledger.judge(report),
    ...struck,
    takeovers,
    takeoverTimes,
    parked,
    requests: report.requests,
    seconds,
  }
}

class Hunt {
  readonly ledger: Ledger
  readonly takeoverTimes = new TakeoverTimes()
  readonly blows: BlowTable<CrashBlow>
  readonly #options: HuntOptions
  readonly #server: KilledServer
  readonly #random: () => number
  readonly #workers: HuntedWorker[] = []
  readonly #takeovers = new Set<string>()
  #heard = 0

  constructor(options: HuntOptions, server: KilledServer) {
    this.#options = options
    this.#server = server
    this.blows = crashBlows(options.place)
    this.#random = seededRandom(options.seed)
    this.ledger = new Ledger(options.operations)
  }

  /** How often a process went on with what another one had begun. */
  get takeovers(): number {
    return this.#takeovers.size
  }

  async run(): Promise<void> {
    const { processes, minutes = 0, onProgress } = this.#options
    const until = performance.now() + minutes * 60_000
    for (let slot = 0; slot < processes; slot++) this.#workers.push(await this.#start(slot))
    let tellAt = 0
    while (!this.#isOver(until)) {
      if (this.ledger.isDone) this.ledger.want(this.#options.operations)
      this.#handOut()
      await this.#someTime()
      await this.#strike()
      if (performance.now() < tellAt) continue
      tellAt = performance.now() + 1000
      onProgress?.(this.#progress())
    }
    for (const { child } of this.#workers) await this.#killed(child)
  }

  /** With nobody killing any more, everything comes to its end. */
  async finish(): Promise<number> {
    this.#options.onProgress?.('finishing what is left')
    const journal = this.#options.place.addressOf()
    const child = await startProgram('child-finisher', { origin: this.#server.origin, journal })
    let parked = 0
    child.onLine((line) => {
      const said = JSON.parse(line) as Heard
      if (said.is === 'parked') parked++
      this.#hear(said, child)
    })
    const { code } = await child.ended
    if (code !== 0) throw new Error(`The last process ended with ${code}`)
    return parked
  }

  #isOver(until: number): boolean {
    const overtimeMs = performance.now() - until
    if (overtimeMs < 0 || !this.ledger.isDone) return false
    // The cuts are counted by the server, at the end.
    const isDue = this.blows.due.some((blow) => CRASH_WEIGHTS[blow] !== undefined)
    return !isDue || overtimeMs > LONGEST_OVERTIME_MS
  }

  async #start(slot: number): Promise<HuntedWorker> {
    const { place } = this.#options
    const input = { origin: this.#server.origin, journal: place.addressOf(slot) }
    const child = await startProgram('child-worker', input, { nodeOptions: place.nodeOptions() })
    const worker = new HuntedWorker(child)
    worker.onSaid((said) => {
      this.#hear(said, child)
      // A journal that is away refuses at once: the next one waits for a moment.
      if (said.is !== 'gave up') this.#fill(worker)
      else if (said.number !== undefined) this.ledger.giveBack([said.number])
    })
    return worker
  }

  #hear(said: Heard, { pid }: LineProcess): void {
    const { is, key } = said
    if (key !== undefined && is === 'accepted') this.takeoverTimes.accepted(key, pid)
    if (key !== undefined && is === 'resumed') this.takeoverTimes.resumed(key, pid)
    if (key !== undefined && (is === 'answered' || is === 'gave up' || is === 'handled'))
      this.takeoverTimes.dropped(key)
    if (said.is === 'journal blink') this.blows.struck('journal blink')
    else this.#heard++
    if (said.is === 'resumed') this.#takeovers.add(`${pid} ${said.key}`)
    this.ledger.hear(said)
  }

  /** Until enough was said, or nothing for long, and then a moment more: a blow may come at any time. */
  async #someTime(): Promise<void> {
    const enough = this.#heard - Math.log(1 - this.#random()) * this.#options.killEvery
    for (let waitedMs = 0; this.#heard < enough && waitedMs < LONGEST_PEACE_MS; waitedMs += 10) {
      await pause(10)
      this.#handOut()
    }
    await pause(this.#random() * 60)
  }

  #handOut(): void {
    for (const worker of this.#workers) this.#fill(worker)
  }

  #fill(worker: HuntedWorker): void {
    while (worker.isReady && worker.posted.size < AT_ONCE && !worker.child.isEnded) {
      const number = this.ledger.next()
      if (number === undefined) return
      worker.post(number)
    }
  }

  async #strike(): Promise<void> {
    const blow = this.#isRestartDue() ? 'Postgres restart' : this.blows.next(this.#random, CRASH_WEIGHTS)
    const slot = Math.floor(this.#random() * this.#workers.length)
    const victim = this.#workers[slot]
    const { place } = this.#options
    if (!victim) return
    if (blow === 'client kill') return this.#kill(victim, slot)
    if (blow === 'server kill') {
      await this.#server.kill()
      this.blows.struck('server kill')
    } else if (blow === 'journal blink') {
      // It counts when the process tells that a write has failed.
      victim.blink(50 + this.#random() * 300)
    } else if (blow === 'client freeze' && victim.freeze(place.freezeMs(this.#random))) {
      this.blows.struck('client freeze')
    } else if (blow !== undefined && blow in place.strikes) {
      const how = place.strikes[blow as PlaceBlow]
      if (typeof how === 'function' && (await how(this.#random, slot).catch(() => false))) this.blows.struck(blow)
    }
  }

  #isRestartDue(): boolean {
    const { place, operations } = this.#options
    const due = place.restartsAt.filter((share) => this.ledger.accepted >= share * operations)
    return due.length > this.blows.count('Postgres restart')
  }

  async #killed(child: LineProcess): Promise<void> {
    await child.kill()
    this.takeoverTimes.died(child.pid)
  }

  async #kill(victim: HuntedWorker, slot: number): Promise<void> {
    // Now and then one dies while it starts; mostly they are let come to work.
    if (!victim.isReady && this.#random() < 0.8) return
    await this.#killed(victim.child)
    this.blows.struck('client kill')
    // What had an id, and was not heard of, is posted again by somebody else.
    this.ledger.giveBack(victim.posted)
    this.#workers[slot] = await this.#start(slot)
  }

  #progress(): string {
    const dealt = Object.entries(this.blows.counts).filter(([blow]) => !blow.startsWith('cut'))
    const blows = dealt.map(([blow, count]) => `${blow} ${count}`).join(', ')
    return `${this.ledger.progress}, ${this.takeovers} takeovers; ${blows}`
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
