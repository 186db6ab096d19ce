import { join } from 'node:path'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { neverStruck } from '../support/blow-table.ts'
import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import { CRASH_WEIGHTS, crashBlows } from './hunt-blows.ts'
import { type Heard, Ledger, type Verdict } from './hunt-ledger.ts'
import { HuntedWorker } from './hunted-worker.ts'
import { KilledServer } from './killed-server.ts'

export interface HuntOptions {
  readonly folder: string
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
  const { takeovers, blows } = work
  blows.struck('cut before', report.fates.reset ?? 0)
  blows.struck('cut after', report.fates.lose ?? 0)
  const { counts, notDealt } = blows
  const struck = { blows: counts, notDealt, neverStruck: neverStruck(counts) }
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return { ...work.ledger.judge(report), ...struck, takeovers, parked, requests: report.requests, seconds }
}

class Hunt {
  readonly ledger: Ledger
  readonly blows = crashBlows()
  readonly #options: HuntOptions
  readonly #server: KilledServer
  readonly #db: string
  readonly #random: () => number
  readonly #workers: HuntedWorker[] = []
  readonly #takeovers = new Set<string>()
  #heard = 0

  constructor(options: HuntOptions, server: KilledServer) {
    this.#options = options
    this.#server = server
    this.#db = join(options.folder, 'operations.db')
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
    for (let slot = 0; slot < processes; slot++) this.#workers.push(await this.#start())
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
    for (const { child } of this.#workers) await child.kill()
  }

  /** With nobody killing any more, everything comes to its end. */
  async finish(): Promise<number> {
    this.#options.onProgress?.('finishing what is left')
    const child = await startProgram('child-finisher', { origin: this.#server.origin, db: this.#db })
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

  async #start(): Promise<HuntedWorker> {
    const child = await startProgram('child-worker', { origin: this.#server.origin, db: this.#db })
    const worker = new HuntedWorker(child)
    worker.onSaid((said) => {
      if (said.is === 'gave up' && said.number !== undefined) this.ledger.giveBack([said.number])
      this.#hear(said, child)
      this.#fill(worker)
    })
    return worker
  }

  #hear(said: Heard, { pid }: LineProcess): void {
    if (said.is === 'journal blink') this.blows.struck('journal blink')
    else this.#heard++
    if (said.is === 'resumed') this.#takeovers.add(`${pid} ${said.key}`)
    this.ledger.hear(said)
  }

  /** Until enough was said, or nothing for long, and then a moment more: a blow may come at any time. */
  async #someTime(): Promise<void> {
    const enough = this.#heard - Math.log(1 - this.#random()) * this.#options.killEvery
    for (let waitedMs = 0; this.#heard < enough && waitedMs < LONGEST_PEACE_MS; waitedMs += 10) await pause(10)
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
    const blow = this.blows.next(this.#random, CRASH_WEIGHTS)
    const slot = Math.floor(this.#random() * this.#workers.length)
    const victim = this.#workers[slot]
    if (!victim) return
    if (blow === 'client kill') return this.#kill(victim, slot)
    if (blow === 'server kill') {
      await this.#server.kill()
      this.blows.struck('server kill')
    } else if (blow === 'journal blink') {
      // It counts when the process tells that a write has failed.
      victim.blink(50 + this.#random() * 300)
    } else if (blow === 'client freeze' && victim.freeze(200 + this.#random() * 1500)) {
      this.blows.struck('client freeze')
    }
  }

  async #kill(victim: HuntedWorker, slot: number): Promise<void> {
    // Now and then one dies while it starts; mostly they are let come to work.
    if (!victim.isReady && this.#random() < 0.8) return
    await victim.child.kill()
    this.blows.struck('client kill')
    // What had an id, and was not heard of, is posted again by somebody else.
    this.ledger.giveBack(victim.posted)
    this.#workers[slot] = await this.#start()
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
