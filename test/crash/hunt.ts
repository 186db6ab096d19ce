import { join } from 'node:path'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import { CountingServer } from '../support/counting-server.ts'
import { type Heard, Ledger, type Verdict } from './hunt-ledger.ts'

export interface HuntOptions {
  readonly folder: string
  readonly operations: number
  readonly processes: number
  readonly seed: number
  /** How many lines the processes say, on average, between two kills: a slow machine kills as often as a fast one. */
  readonly killEvery: number
  /** Goes on killing for at least this long, with as many operations as fit in. */
  readonly minutes?: number
  readonly onProgress?: (line: string) => void
}

export interface HuntResult extends Verdict {
  readonly kills: number
  readonly takeovers: number
  readonly parked: number
  readonly requests: number
  readonly seconds: number
}

/** A server that fails in every way, often. */
const FLAKY = { answer: 40, slow: 20, lose: 15, reset: 10, unavailable: 10, hang: 1 }
/** How many operations a process has at once. */
const AT_ONCE = 6
const LONGEST_PEACE_MS = 3000

/** Several processes, one journal, a flaky server, and somebody who kills: is anything lost or done twice? */
export async function hunt(options: HuntOptions): Promise<HuntResult> {
  const startedAt = performance.now()
  const server = await CountingServer.start(join(options.folder, 'effects'))
  await server.mode({ weights: FLAKY, seed: options.seed })
  const work = new Hunt(options, server.origin)
  await work.run()
  const parked = await work.finish()
  const report = await server.report()
  await server.stop()
  const { kills, takeovers } = work
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return { ...work.ledger.judge(report), kills, takeovers, parked, requests: report.requests, seconds }
}

class Hunt {
  readonly ledger: Ledger
  readonly #options: HuntOptions
  readonly #origin: string
  readonly #db: string
  readonly #random: () => number
  readonly #workers: Worker[] = []
  readonly #takeovers = new Set<string>()
  #heard = 0
  kills = 0

  constructor(options: HuntOptions, origin: string) {
    this.#options = options
    this.#origin = origin
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
    while (!this.ledger.isDone || performance.now() < until) {
      if (this.ledger.isDone) this.ledger.want(this.#options.operations)
      this.#handOut()
      await this.#someTime()
      await this.#killOne()
      if (performance.now() < tellAt) continue
      tellAt = performance.now() + 1000
      onProgress?.(`${this.ledger.progress}, ${this.kills} kills, ${this.takeovers} takeovers`)
    }
    for (const { child } of this.#workers) await child.kill()
  }

  /** With nobody killing any more, everything comes to its end. */
  async finish(): Promise<number> {
    this.#options.onProgress?.('finishing what is left')
    const child = await startProgram('child-finisher', { origin: this.#origin, db: this.#db })
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

  async #start(): Promise<Worker> {
    const child = await startProgram('child-worker', { origin: this.#origin, db: this.#db })
    const worker: Worker = { child, posted: new Set(), isReady: false }
    child.onLine((line) => {
      const said = JSON.parse(line) as Heard
      worker.isReady = true
      if (said.number !== undefined && (said.is === 'answered' || said.is === 'gave up')) {
        worker.posted.delete(said.number)
        if (said.is === 'gave up') this.ledger.giveBack([said.number])
      }
      this.#hear(said, child)
      this.#fill(worker)
    })
    return worker
  }

  #hear(said: Heard, { pid }: LineProcess): void {
    this.#heard++
    if (said.is === 'resumed') this.#takeovers.add(`${pid} ${said.key}`)
    this.ledger.hear(said)
  }

  /** Until enough was said, or nothing for long, and then a moment more: a kill may come at any time. */
  async #someTime(): Promise<void> {
    const enough = this.#heard - Math.log(1 - this.#random()) * this.#options.killEvery
    for (let waitedMs = 0; this.#heard < enough && waitedMs < LONGEST_PEACE_MS; waitedMs += 10) await pause(10)
    await pause(this.#random() * 60)
  }

  #handOut(): void {
    for (const worker of this.#workers) this.#fill(worker)
  }

  #fill({ child, posted, isReady }: Worker): void {
    while (isReady && posted.size < AT_ONCE && !child.isEnded) {
      const number = this.ledger.next()
      if (number === undefined) return
      posted.add(number)
      child.say(String(number))
    }
  }

  async #killOne(): Promise<void> {
    const slot = Math.floor(this.#random() * this.#workers.length)
    const victim = this.#workers[slot]
    // Now and then one dies while it starts; mostly they are let come to work.
    if (!victim || (!victim.isReady && this.#random() < 0.8)) return
    await victim.child.kill()
    this.kills++
    // What had an id, and was not heard of, is posted again by somebody else.
    this.ledger.giveBack(victim.posted)
    this.#workers[slot] = await this.#start()
  }
}

interface Worker {
  child: LineProcess
  readonly posted: Set<number>
  isReady: boolean
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
