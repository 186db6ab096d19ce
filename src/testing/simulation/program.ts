import type { Client } from '../../client/client.ts'
import { composeClient } from '../../client/compose-client.ts'
import type { Coordination } from '../../client/coordination/port.ts'
import type { OperationHandle } from '../../client/operation-handle.ts'
import type { ClientOptions } from '../../client/options.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import { callOptions, fetchInit, urlOf } from './call-arguments.ts'
import { SECRET } from './model-server.ts'
import { Onlooker } from './onlooker.ts'
import type { CallFact, CallResult } from './oracle/facts.ts'
import { plainDigest } from './plain-digest.ts'
import { type Backlog, type CallPlan, DEDUP_WINDOW_MS, RUN_DEADLINE_MS, type SlotPlan } from './plan.ts'
import { ProgramHandlers } from './program-handlers.ts'
import { ProgramOutbox } from './program-outbox.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { watchEvent } from './watch-event.ts'
import type { World } from './world.ts'

export interface Surroundings {
  readonly world: World
  readonly disk: SimulatedDisk
  readonly network: SimulatedNetwork
  /** How a process knows of its peers. */
  readonly coordinationOf: (process: SimulatedProcess) => Coordination
  readonly slot: Pick<SlotPlan, 'origin' | 'trusts' | 'headers'>
}

/** The program that runs in a process: it makes calls, takes settlements and resumes. */
export class Program {
  readonly process: SimulatedProcess
  readonly client: Client
  readonly #world: World
  readonly #slot: Surroundings['slot']
  readonly #onlooker: Onlooker
  readonly #outbox: ProgramOutbox
  readonly handlers: ProgramHandlers
  #closed = false

  constructor(process: SimulatedProcess, around: Surroundings) {
    this.process = process
    this.#world = around.world
    this.#slot = around.slot
    this.client = composeClient(
      {
        sendHeaders: true,
        digest: plainDigest,
        defaultJournal: () => around.disk.openIn(process),
        transport: () => around.network.transportOf(process),
        coordination: () => {
          const coordination = around.coordinationOf(process)
          process.owner = coordination.owner
          return coordination
        },
      },
      this.#options(around),
    )
    this.#onlooker = new Onlooker(this.client, process, around.world)
    this.#outbox = new ProgramOutbox(this.client, process, around.disk)
    this.handlers = new ProgramHandlers(this.client, process, around.world)
    this.#world.oracle.processStarted(process, around.slot)
  }

  get origin(): string {
    return this.#slot.origin
  }

  #options({ world }: Surroundings): ClientOptions {
    const { plan } = world
    return {
      ...plan.options,
      baseUrl: this.#slot.origin,
      trustedOrigins: this.#slot.trusts,
      clock: this.process.clock,
      random: world.dice(`jitter ${this.process.name}`).random,
      deadline: RUN_DEADLINE_MS,
      dedupWindow: DEDUP_WINDOW_MS,
      horizon: plan.horizonMs,
      retention: plan.retentionMs,
      headers: () => this.#credentials(),
      honoursKeys: plan.honoursKeys,
      observe: plan.observed || world.traced ? (event) => watchEvent(world, this.process, event) : undefined,
      session: plan.faults.has('log-in') ? () => world.user ?? '' : undefined,
    }
  }

  /** Made afresh for each attempt. */
  #credentials(): Record<string, string> | Promise<Record<string, string>> {
    const made: Record<string, string> =
      this.#slot.headers === 'full' ? { authorization: `Bearer ${SECRET}` } : { 'x-tenant': 'acme' }
    const slow = this.#world.strikes('headers-slow')
    if (this.#world.plan.credentials === 'at-hand' && !slow) return made
    const ms = slow ? this.#world.dice('headers-slow').pick([200, 1000, 3000, 6000, 6000, 20_000, 250_000]) : 0
    return new Promise((resolve) => this.process.later(ms, () => this.process.reach('headers') && resolve(made)))
  }

  start({ handlers, resume }: Pick<SlotPlan, 'handlers' | 'resume'>): void {
    this.handlers.take(handlers)
    if (resume === 'once') void this.resume()
    if (resume === 'watch') this.#watch()
  }

  list(): void {
    if (this.#closed) return
    this.#world.happened('listed')
    this.#onlooker.list()
  }

  listDeadLetters(): Promise<void> {
    return this.#onlooker.listDeadLetters()
  }

  resume(): Promise<unknown> {
    // An explicit wish: one operation is tried in any case.
    this.#world.oracle.budgets.get(this.process.name)?.begins()
    return this.client.resume({ concurrency: this.#world.plan.concurrency }).catch(() => {})
  }

  #watch(): void {
    const controller = new AbortController()
    const { watchMs, concurrency } = this.#world.plan
    this.process.later(watchMs, () => controller.abort())
    this.client.resume({ continuous: true, signal: controller.signal, concurrency }).catch(() => {})
  }

  close(): void {
    this.#closed = true
    this.#world.happened('close')
    this.#world.oracle.roster.leaves(this.process)
    this.#world.say(this.process.name, 'closes its client')
    const end = (): void => this.process.end('has closed, and exits')
    this.client.close().then(end, end)
  }

  /** The process has ended; the platform would keep what still listens to the client's signals. */
  discard(): void {
    this.client.close().catch(() => {})
  }

  layUp(backlog: Backlog): void {
    this.#world.happened('backlog')
    this.#world.say(this.process.name, `leaves ${backlog.count} operations for ${backlog.origin} to a resume`)
    void this.#outbox.layUp(backlog, () => this.#world.user)
  }

  call(plan: CallPlan): void {
    if (this.#closed) return
    const { process } = this
    this.#world.say(process.name, `calls ${plan.method} ${plan.label}${plan.id ? ` with id ${plan.id}` : ''}`)
    const controller = new AbortController()
    const circumstances = { signal: controller.signal, user: this.#world.user }
    const url = urlOf(plan, this.#slot.origin)
    if (plan.outbox) {
      const options = callOptions(plan, circumstances)
      const send = (make: () => OperationHandle): void => this.#follow(plan, make, controller)
      void this.#outbox.call({ ...plan.outbox, method: plan.method, url }, options, send)
    } else if (plan.through === 'verb') {
      this.#follow(plan, () => this.client[plan.method](url, callOptions(plan, circumstances)), controller)
    } else {
      this.#fetch(plan, url, fetchInit(plan, circumstances))
      this.#later(plan, plan.key ?? '', controller)
    }
  }

  /** Makes the call, and takes what comes of it. */
  #follow(plan: CallPlan, make: () => OperationHandle, controller: AbortController): void {
    if (this.#closed) return
    const { process } = this
    const fact = this.#world.oracle.called(process, plan)
    const handle = make()
    handle.accepted.then(
      () => process.alive && this.#world.oracle.accepted(fact),
      () => {},
    )
    const read: PromiseLike<unknown> = plan.reads === 'json' ? handle.json() : handle
    read.then(
      () => this.#recordResult(fact, { is: 'response', at: this.#world.timeline.now }),
      (error: unknown) => this.#recordResult(fact, this.#failure(error)),
    )
    this.#later(plan, handle.key, controller)
  }

  #fetch(plan: CallPlan, url: string, init: RequestInit): void {
    const fact = this.#world.oracle.called(this.process, plan)
    this.client.fetch(url, init).then(
      ({ ok }) => this.#recordResult(fact, { is: ok ? 'response' : 'other', at: this.#world.timeline.now }),
      (error: Error) => this.#recordResult(fact, this.#failure(error.cause)),
    )
  }

  /** What the program does about a call that it has made: aborts it, cancels it by its name, asks again. */
  #later(plan: CallPlan, key: string, controller: AbortController): void {
    const { process, client } = this
    const world = this.#world
    const what = plan.id ?? key
    const then = (ms: number | undefined, act: () => void): void => {
      if (ms !== undefined) process.later(ms, () => !this.#closed && !world.calm && act())
    }
    then(plan.abortAfterMs, () => {
      world.happened('abort')
      world.say(process.name, `aborts its call of ${plan.label}`)
      controller.abort()
    })
    then(plan.cancelAfterMs, () => {
      world.happened('cancel')
      world.say(process.name, `cancels ${plan.label}`)
      world.oracle.cancels(process)
      client.cancel(what).catch(() => {})
    })
    then(plan.looksAfterMs, () => this.#onlooker.look(what, plan))
    then(plan.retryAfterMs, () => {
      world.happened('retry-by-key')
      this.retry(what, plan)
    })
  }

  /** Asks for an operation by its key or id. */
  retry(keyOrId: string, plan: CallPlan): void {
    const { process } = this
    this.#world.say(process.name, `asks for ${plan.label} again by ${plan.id ? 'id' : 'key'}`)
    const fact = this.#world.oracle.called(process, { ...plan, deadlineMs: RUN_DEADLINE_MS })
    this.client.retry(keyOrId, { deadline: RUN_DEADLINE_MS }).then(
      () => this.#recordResult(fact, { is: 'response', at: this.#world.timeline.now }),
      (error: unknown) => this.#recordResult(fact, this.#failure(error)),
    )
  }

  #failure(error: unknown): CallResult {
    const at = this.#world.timeline.now
    if (!isHoldfastError(error)) return { is: 'other', at }
    const text = `${error.message} ${JSON.stringify(error)} ${String(error.cause)}`
    if (text.includes(SECRET)) this.#world.oracle.breaks(['P9', `a credential is in the error ${error.name}`])
    // A look-up that found nothing says nothing about the operation.
    const isUnknown = error.code === 'HOLDFAST_UNKNOWN_OPERATION' && error.effect !== 'none'
    return isUnknown ? { is: 'other', at } : { is: 'error', at, error }
  }

  #recordResult(fact: CallFact, result: CallResult): void {
    if (!this.process.alive) return
    const what =
      result.is === 'error'
        ? `${result.error.name} (${result.error.reason}), effect ${result.error.effect}${result.error.pending ? ', pending' : ''}`
        : result.is
    this.#world.say(this.process.name, `gets the result of ${fact.plan.label}: ${what}`)
    this.#world.oracle.callEnded(fact, result)
    // At once: what was asked of the disk and not handed over yet is not written any more.
    if (result.is === 'response' && this.#world.strikes('program-exits')) this.process.end('has its answer, and exits')
  }
}
