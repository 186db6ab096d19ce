/** The clients of a trial, each with a journal and connections of its own, as if it were alone in its process. */
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type HoldfastEvent, isHoldfastError, memoryJournal } from '../../../src/index.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { exponential } from '../dice.ts'
import type { PastOperation } from './history.ts'
import { type Lag, watchLag } from './lag.ts'
import type { Trial } from './trials.ts'

export interface ClientsOrder {
  readonly trial: Trial
  readonly seed: number
  readonly baseUrl: string
  /** Epoch milliseconds with fractions, on the clock that both processes share. */
  readonly startAt: number
}

export type WarmUpOrder = Pick<ClientsOrder, 'baseUrl'>

export interface ClientsReport {
  readonly operations: readonly PastOperation[]
  readonly told: Readonly<Record<string, number>>
  readonly lag: Lag
}

const LOOK_EVERY_MS = 100
const WARM_UP_ROUNDS = 20

class SocketFleet {
  readonly #order: ClientsOrder
  readonly #clients: Client[]
  readonly #byKey = new Map<string, PastOperation>()
  readonly told: Record<string, number> = {}
  #calls = 0
  lag: () => Lag = watchLag()

  constructor(order: ClientsOrder) {
    this.#order = order
    const { scenario, onGiveUp } = order.trial
    const { baseUrl } = order
    this.#clients = Array.from({ length: scenario.clients }, () =>
      createClient({
        baseUrl,
        onGiveUp,
        journal: memoryJournal(),
        attemptTimeout: scenario.attemptTimeoutMs,
        observe: (event) => this.#observe(event),
      }),
    )
  }

  get operations(): PastOperation[] {
    return [...this.#byKey.values()]
  }

  get #now(): number {
    return performance.timeOrigin + performance.now() - this.#order.startAt
  }

  async run(): Promise<void> {
    const { seed, trial } = this.#order
    await sleep(-this.#now)
    this.lag = watchLag()
    const resumes = trial.onGiveUp === 'keep' ? this.#clients.map((client) => client.resume({ continuous: true })) : []
    const random = seededRandom(`${seed}:arrivals`)
    await Promise.all(this.#clients.map((client) => this.#arrivals(client, random)))
    const latest = trial.scenario.until + trial.scenario.drainMs
    while (this.#now < latest && !this.#isOver) await sleep(LOOK_EVERY_MS)
    await Promise.all(this.#clients.map((client) => client.close()))
    await Promise.all(resumes)
  }

  get #isOver(): boolean {
    if (this.#calls > 0) return false
    return this.#order.trial.onGiveUp === 'fail' || this.operations.every(({ doneAt }) => doneAt !== undefined)
  }

  async #arrivals(client: Client, random: () => number): Promise<void> {
    const { clients, operationsPerSecond, until } = this.#order.trial.scenario
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
      this.#count(`call: ${error.reason}`)
      if (error.pending) operation.attemptsOfCall = operation.attempts
    } finally {
      this.#calls--
    }
  }

  #observe(event: HoldfastEvent): void {
    this.#count(event.type)
    if (event.type === 'attempt.ended') this.#count(`attempt: ${event.attempt.status ?? event.attempt.fault}`)
    if (event.type === 'breaker.changed') this.#count(`breaker: ${event.to}`)
    const operation = 'operation' in event ? this.#byKey.get(event.operation.key) : undefined
    if (!operation) return
    if (event.type === 'attempt.started') operation.attempts++
    if (event.type === 'operation.settled' && event.status === 'succeeded') operation.doneAt = this.#now
  }

  #count(what: string): void {
    this.told[what] = (this.told[what] ?? 0) + 1
  }
}

/** What is slow only once, such as loading and compiling, is over before the trial begins. */
async function warmUp({ baseUrl }: WarmUpOrder): Promise<void> {
  const client = createClient({ baseUrl, journal: memoryJournal() })
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await Promise.all(Array.from({ length: 20 }, () => client.post('/', { json: {} })))
  }
  await client.close()
}

async function conduct(order: ClientsOrder): Promise<ClientsReport> {
  const fleet = new SocketFleet(order)
  await fleet.run()
  return { operations: fleet.operations, told: fleet.told, lag: fleet.lag() }
}

process.on('message', async (order: ClientsOrder | WarmUpOrder) => {
  if ('trial' in order) process.send?.(await conduct(order))
  else process.send?.({ is: await warmUp(order) })
})
process.on('disconnect', () => process.exit())
