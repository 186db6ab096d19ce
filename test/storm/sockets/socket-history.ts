import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type HoldfastEvent, isHoldfastError, memoryJournal } from '../../../src/index.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { exponential } from '../dice.ts'
import type { History, PastOperation } from './history.ts'
import { type Lag, watchLag } from './lag.ts'
import { ServerProcess } from './server-process.ts'
import type { Trial } from './trials.ts'

export interface SocketHistory extends History {
  /** The longer one of both processes. */
  readonly lag: Lag
  /** Requests that the clients told of; those that reached the server are in `requestsAt`. */
  readonly attempts: number
}

export interface SocketRun {
  readonly trial: Trial
  readonly seed: number
  /** Told everything that the clients tell, with milliseconds from the start. */
  readonly observe?: (event: HoldfastEvent, at: number, client: number) => void
}

/** The trial with real clients, each with a journal and connections of its own, against a server in another process. */
export async function socketHistory(run: SocketRun): Promise<SocketHistory> {
  const server = await ServerProcess.start()
  try {
    const fleet = new SocketFleet(run, server.origin)
    server.begin({ trial: run.trial, seed: run.seed, startAt: fleet.startAt })
    const lagSoFar = watchLag()
    await fleet.run()
    const own = lagSoFar()
    const { requestsAt, lag } = await server.report()
    const worst = {
      p99Ms: Math.max(own.p99Ms, lag.p99Ms),
      longestMs: Math.max(own.longestMs, lag.longestMs),
    }
    const { operations } = fleet
    const attempts = operations.reduce((sum, one) => sum + one.attempts, 0)
    return { operations, requestsAt, lag: worst, attempts }
  } finally {
    await server.close()
  }
}

/** Connections are made in the first moments; the server must know its trial before the first request. */
const LEAD_MS = 200
const LOOK_EVERY_MS = 100

class SocketFleet {
  readonly startAt = epochNow() + LEAD_MS
  readonly #run: SocketRun
  readonly #clients: Client[]
  readonly #byKey = new Map<string, PastOperation>()
  #calls = 0

  constructor(run: SocketRun, baseUrl: string) {
    this.#run = run
    const { scenario, onGiveUp } = run.trial
    this.#clients = Array.from({ length: scenario.clients }, (_, index) =>
      createClient({
        baseUrl,
        onGiveUp,
        journal: memoryJournal(),
        attemptTimeout: scenario.attemptTimeoutMs,
        observe: (event) => this.#observe(event, index),
      }),
    )
  }

  get operations(): PastOperation[] {
    return [...this.#byKey.values()]
  }

  get #now(): number {
    return epochNow() - this.startAt
  }

  async run(): Promise<void> {
    const { scenario, onGiveUp } = this.#run.trial
    const resumes = onGiveUp === 'keep' ? this.#clients.map((client) => client.resume({ continuous: true })) : []
    const random = seededRandom(`${this.#run.seed}:arrivals`)
    await Promise.all(this.#clients.map((client) => this.#arrivals(client, random)))
    const latest = scenario.until + scenario.drainMs
    while (this.#now < latest && !this.#isOver) await sleep(LOOK_EVERY_MS)
    await Promise.all(this.#clients.map((client) => client.close()))
    await Promise.all(resumes)
  }

  get #isOver(): boolean {
    if (this.#calls > 0) return false
    return this.#run.trial.onGiveUp === 'fail' || this.operations.every(({ doneAt }) => doneAt !== undefined)
  }

  async #arrivals(client: Client, random: () => number): Promise<void> {
    const { clients, operationsPerSecond, until } = this.#run.trial.scenario
    const gapMs = (1000 * clients) / operationsPerSecond
    for (let at = exponential(gapMs, random); at < until; at += exponential(gapMs, random)) {
      await sleep(at - this.#now)
      void this.#call(client)
    }
  }

  async #call(client: Client): Promise<void> {
    const key = `operation-${this.#byKey.size}`
    const operation: PastOperation = { startedAt: this.#now, attempts: 0 }
    this.#byKey.set(key, operation)
    this.#calls++
    try {
      await client.post('/', { key, json: {} })
      operation.answered = true
    } catch (error) {
      if (!isHoldfastError(error)) throw error
      if (error.pending) operation.attemptsOfCall = operation.attempts
    } finally {
      this.#calls--
    }
  }

  #observe(event: HoldfastEvent, client: number): void {
    const at = this.#now
    this.#run.observe?.(event, at, client)
    if (!('operation' in event)) return
    const operation = this.#byKey.get(event.operation.key)
    if (!operation) return
    if (event.type === 'attempt.started') operation.attempts++
    if (event.type === 'operation.settled' && event.status === 'succeeded') operation.doneAt = at
  }
}

function epochNow(): number {
  return performance.timeOrigin + performance.now()
}
