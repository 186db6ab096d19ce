import { PATIENCE_MS } from '../../../src/client/engine/run/containments.ts'
import type { BreakerOptions, RetryOptions } from '../../../src/client/options.ts'
import {
  acquirePermit,
  type Containment,
  type ContainmentLimits,
  keptUntil,
  newContainment,
  type Permit,
  payForRetry,
  type RequestKind,
  recordOutcome,
} from '../../../src/client/policy/containment.ts'
import { decideRetry } from '../../../src/client/policy/decide.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'
import { DEFAULT_RETRY, resolveRetry } from '../../../src/client/policy/resolve-retry.ts'
import type { ResolvedRetry } from '../../../src/client/policy/resolved-options.ts'
import { type BudgetOptions, createRetryBudget, type OriginStates } from '../../../src/client/policy/retry-budget.ts'
import { type FleetLink, type FleetSharing, fleetLinks } from './fleet-budget.ts'
import { KeptOperations, type Stop } from './kept-operations.ts'
import { type Memory, newMemory } from './memory.ts'
import { inOurTime } from './our-time.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policy.ts'

/** The options of a client that matter here, by their own names. What is left out has its default. */
export interface HoldfastOptions {
  readonly retry?: RetryOptions
  readonly budget?: BudgetOptions | false
  readonly breaker?: BreakerOptions | false
  readonly onGiveUp?: 'fail' | 'keep'
  /** How many kept operations a process resumes at once. */
  readonly concurrency?: number
  /** What a call does that gets no leave: it ends, or waits for leave within its deadline. */
  readonly withoutLeave?: 'ends' | 'waits'
  /** So many clients, one after the other, share their state, as tabs do. */
  readonly sharing?: number
  /** One budget for all clients of a fleet. */
  readonly sharedBudget?: FleetSharing
  /** What the next process finds in the journal beside the operations: what was known of the origin, or nothing. */
  readonly state?: 'restored' | 'forgotten'
}

interface Settings extends HoldfastOptions {
  readonly limits: ContainmentLimits
  readonly resolved: ResolvedRetry
}

/** Holdfast: the library's own decisions, in a loop like its engine's. */
export function holdfastPolicy(name: string, options: HoldfastOptions = {}): Policy {
  const budget = options.budget === false ? false : (createRetryBudget(options.budget) as OriginStates).limits
  const limits = { budget, breaker: resolveBreaker(options.breaker) }
  const settings = { ...options, limits, resolved: resolveRetry(options.retry, DEFAULT_RETRY) }
  const sharing = options.sharing ?? 1
  let made = 0
  let shared = newMemory()
  const linkIn = fleetLinks(options.sharedBudget, budget)
  return {
    name,
    newMemory: (former = newMemory()) =>
      options.state === 'forgotten' ? { ...(former as Memory), state: undefined } : former,
    newClient: (world, memory) => {
      const link = linkIn(world)
      if (memory) return new HoldfastClient(settings, { memory: memory as Memory, link, world })
      if (made++ % sharing === 0) shared = newMemory()
      return new HoldfastClient(settings, { memory: shared, link, world })
    },
  }
}

interface Run {
  readonly operation: Operation
  readonly mode: 'call' | 'resume'
  readonly deadlineAt: number
  attempts: number
  previousMs: number
  probe: number | undefined
  readonly ended: (end: 'succeeded' | 'failed' | Stop) => void
}

interface Attempted {
  readonly end: AttemptEnd
  readonly kind: RequestKind
  readonly sentAt: number
  readonly floorMs: number | undefined
}

const DEADLINE_MS = 30_000
/** As the engine has it. */
const CONCURRENCY = 8

interface Surroundings {
  readonly memory: Memory
  readonly link: FleetLink | undefined
  readonly world: World
}

class HoldfastClient implements ClientModel {
  readonly #settings: Settings
  readonly #fleet: FleetLink | undefined
  readonly #memory: Memory
  readonly #world: World
  readonly #kept: KeptOperations
  /** Kept operations whose first request is on its way, and the runs that wait for how it ends. */
  #keptUnderWay = 0
  #waiting: Run[] = []

  constructor(settings: Settings, { memory, link, world }: Surroundings) {
    this.#settings = settings
    this.#memory = memory
    this.#fleet = link
    this.#world = inOurTime(world)
    const terms = { atOnce: settings.concurrency ?? CONCURRENCY, heldUntil: () => this.#heldUntil() }
    this.#kept = new KeptOperations(this.#world, terms, (operation, end) => this.#resume(operation, end))
    for (const operation of memory.kept) this.#kept.keep(operation, { reason: 'network', tried: false })
  }

  get #state(): Containment {
    this.#memory.state ??= newContainment(this.#settings.limits, this.#world.now)
    return this.#memory.state
  }

  /** What would have to wait for long is not taken up, unless news of the origin is on its way. */
  #heldUntil(): number {
    const until = this.#keptUnderWay > 0 ? undefined : keptUntil(this.#state, this.#settings.limits, this.#world.now)
    return (until ?? 0) - PATIENCE_MS
  }

  submit(operation: Operation): void {
    this.#start(operation, 'call', (end) => {
      if (typeof end === 'string') this.#world.settle(operation, end)
      else this.#giveUp(operation, end)
    })
  }

  #giveUp(operation: Operation, stop: Stop): void {
    const keeps = this.#settings.onGiveUp === 'keep'
    this.#world.settle(operation, keeps ? 'kept' : 'failed')
    if (!keeps) return
    this.#memory.kept.add(operation)
    this.#kept.keep(operation, stop)
  }

  #resume(operation: Operation, ended: Run['ended']): void {
    this.#start(operation, 'resume', (end) => {
      if (typeof end === 'string') this.#memory.kept.delete(operation)
      ended(end)
    })
  }

  #start(operation: Operation, mode: Run['mode'], ended: Run['ended']): void {
    const deadlineAt = this.#world.now + DEADLINE_MS
    const previousMs = this.#settings.resolved.baseMs
    this.#step({ operation, mode, deadlineAt, attempts: 0, previousMs, probe: undefined, ended })
  }

  #step(run: Run): void {
    if (this.#world.now < run.deadlineAt) this.#enter(run)
    else this.#stop(run, { reason: 'deadline' })
  }

  #enter(run: Run): void {
    const { now, random } = this.#world
    const kind = kindOf(run)
    const { given, reason = 'budget', retryAt = now, probe } = this.#ask(kind)
    run.probe = probe
    if (given) this.#send(run, kind)
    else if (kind === 'kept' && this.#keptUnderWay > 0) this.#waiting.push(run)
    else if (kind === 'kept' && retryAt - now <= PATIENCE_MS) this.#world.after(retryAt - now, () => this.#step(run))
    else if (this.#mayWait(run, retryAt)) this.#world.after((retryAt - now) * (1 + random()), () => this.#step(run))
    else this.#stop(run, { reason, retryAt })
  }

  #ask(kind: RequestKind): Permit {
    const { now, random } = this.#world
    const leave = acquirePermit(this.#state, this.#settings.limits, { now, kind, random })
    this.#memory.state = leave.state
    return leave
  }

  #send(run: Run, kind: RequestKind): void {
    const sentAt = this.#world.now
    if (kind === 'kept') this.#keptUnderWay++
    this.#world.send(run.operation, (end, floorMs) => this.#conclude(run, { end, kind, sentAt, floorMs }))
  }

  #mayWait({ mode, deadlineAt }: Run, retryAt: number): boolean {
    return this.#settings.withoutLeave === 'waits' && mode === 'call' && retryAt < deadlineAt
  }

  #conclude(run: Run, { end, kind, sentAt, floorMs }: Attempted): void {
    const { now, random } = this.#world
    run.attempts++
    const outcome = end === 'success' ? 'success' : 'failure'
    const ended = { now, kind, outcome, tookMs: now - sentAt, probe: run.probe, random } as const
    this.#memory.state = recordOutcome(this.#state, this.#settings.limits, ended)
    if (kind === 'kept') this.#keptEnded()
    if (end === 'success') {
      const { budget } = this.#settings.limits
      if (budget) this.#fleet?.deposit(budget.ratio)
      this.#kept.reconsider()
      run.ended('succeeded')
    } else if (end === 'do-not-retry') run.ended('failed')
    else this.#decide(run, floorMs)
  }

  #keptEnded(): void {
    this.#keptUnderWay--
    for (const run of this.#waiting.splice(0)) this.#step(run)
  }

  #decide(run: Run, floorMs: number | undefined): void {
    const { now, random } = this.#world
    const { deadlineAt, attempts: attemptsMade, previousMs } = run
    const standing = { now, deadlineAt, horizonAt: Number.POSITIVE_INFINITY, attemptsMade, previousMs, floorMs }
    const decision = decideRetry({ ...standing, retry: this.#settings.resolved }, random)
    if (decision.do === 'stop') this.#stop(run, decision)
    else {
      this.#pay((isPaid) => {
        run.previousMs = decision.backoffMs
        const delayMs = Math.max(0, now + decision.delayMs - this.#world.now)
        if (isPaid) this.#world.after(delayMs, () => this.#step(run))
        else this.#stop(run, { reason: 'budget' })
      })
    }
  }

  /** Its own bucket is asked first: it is never exceeded for the sake of the fleet's. Where the fleet has none, it has none. */
  #pay(then: (isPaid: boolean) => void): void {
    const { tokens } = this.#state
    const state = { ...this.#state, tokens: Math.min(tokens, this.#fleet?.lowest() ?? tokens) }
    const paid = payForRetry(state, this.#settings.limits, this.#world.now)
    this.#memory.state = paid ?? state
    if (!paid || !this.#fleet) then(paid !== undefined)
    else {
      this.#fleet.take(paid.tokens, (isGranted) => {
        if (!isGranted) this.#memory.state = { ...this.#state, tokens: 0 }
        then(isGranted)
      })
    }
  }

  #stop(run: Run, { reason, retryAt }: Omit<Stop, 'tried'>): void {
    run.ended({ reason, retryAt, tried: run.attempts > 0 })
  }
}

function kindOf({ attempts, mode }: Run): RequestKind {
  if (attempts > 0) return 'retry'
  return mode === 'resume' ? 'kept' : 'call'
}
