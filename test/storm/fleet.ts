import { seededRandom } from '../../src/testing/seeded-random.ts'
import { exponential, uniform } from './dice.ts'
import { FleetLog } from './fleet-log.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policies/policy.ts'
import type { Scenario } from './scenario.ts'
import { type Reply, ServerModel } from './server-model.ts'
import { VirtualTime } from './virtual-time.ts'

/** Who answers the requests of a fleet. */
export interface Answering {
  arrive(now: number): Reply
}

export interface FleetOptions {
  readonly scenario: Scenario
  readonly policy: Policy
  readonly seed: number | string
  /** In place of the server with a capacity. */
  readonly server?: Answering
}

/** Lets a whole fleet run through a scenario. The same seed has the same history. */
export function runFleet(options: FleetOptions): FleetLog {
  const { scenario } = options
  const fleet = new Fleet(options)
  fleet.start()
  fleet.time.runUntil(scenario.until + scenario.drainMs)
  return fleet.log
}

class Fleet {
  readonly time = new VirtualTime()
  readonly log = new FleetLog()
  readonly #scenario: Scenario
  readonly #server: Answering
  readonly #policy: Policy
  readonly #seed: number | string
  readonly #network: () => number

  constructor({ scenario, policy, seed, server }: FleetOptions) {
    this.#scenario = scenario
    this.#policy = policy
    this.#seed = seed
    this.#server = server ?? new ServerModel(scenario.server)
    this.#network = this.#dice('network')
  }

  /** Dice of their own for each purpose: every policy meets the same arrivals. */
  #dice(purpose: string): () => number {
    return seededRandom(`${this.#seed}:${purpose}`)
  }

  start(): void {
    const world = this.#world()
    const arrivals = this.#dice('arrivals')
    const { clients, operationsPerSecond } = this.#scenario
    const gapMs = (1000 * clients) / operationsPerSecond
    for (let index = 0; index < clients; index++) this.#arrive(this.#policy.newClient(world), gapMs, arrivals)
  }

  #arrive(client: ClientModel, gapMs: number, dice: () => number): void {
    const at = this.time.now + exponential(gapMs, dice)
    if (at >= this.#scenario.until) return
    this.time.at(at, () => {
      this.log.started.add(at)
      this.#arrive(client, gapMs, dice)
      client.submit({ startedAt: at, attempts: 0 })
    })
  }

  #world(): World {
    const { time } = this
    return {
      get now() {
        return time.now
      },
      random: this.#dice('policy'),
      after: (ms, run) => time.after(ms, run),
      send: (operation, ended) => this.#send(operation, ended),
      settle: (operation, as) => this.#settle(operation, as),
      finish: (operation) => this.#succeed(operation),
    }
  }

  #send(operation: Operation, ended: (end: AttemptEnd, floorMs?: number) => void): void {
    operation.attempts++
    const sentAt = this.time.now
    if (operation.attempts > 1) this.log.retries.add(sentAt)
    this.time.after(this.#latency(), () => {
      const reply = this.#server.arrive(this.time.now)
      const latest = sentAt + this.#scenario.attemptTimeoutMs
      const answeredAt = reply.at + this.#latency()
      const end = endOf(reply, answeredAt <= latest)
      this.#note(reply, end)
      this.time.at(Math.min(answeredAt, latest), () => ended(end, floorOf(reply, end)))
    })
  }

  #note(reply: Reply, end: AttemptEnd): void {
    const { log, time } = this
    log.requests.add(time.now)
    log.lastRequestAt = time.now
    if (reply.is === 'refused') log.refused.add(time.now)
    else log.queueMs.raise(time.now, reply.waitedMs)
    if (end === 'late') log.late.add(time.now)
  }

  #latency(): number {
    const [shortest, longest] = this.#scenario.latencyMs
    return uniform(shortest, longest, this.#network)
  }

  #settle(operation: Operation, as: 'succeeded' | 'failed' | 'kept'): void {
    this.log.settledMs.push(this.time.now - operation.startedAt)
    if (as !== 'succeeded') return
    this.log.answered.add(operation.startedAt)
    this.#succeed(operation)
  }

  #succeed({ startedAt }: Operation): void {
    this.log.succeeded.add(startedAt)
    this.log.successes.push({ startedAt, tookMs: this.time.now - startedAt })
  }
}

function floorOf(reply: Reply, end: AttemptEnd): number | undefined {
  return end !== 'late' && reply.is === 'refused' ? reply.retryAfterMs : undefined
}

function endOf(reply: Reply, inTime: boolean): AttemptEnd {
  if (!inTime) return 'late'
  if (reply.is === 'served') return 'success'
  return reply.doNotRetry ? 'do-not-retry' : 'refused'
}
