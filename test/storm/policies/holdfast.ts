import { type GateLimits, PATIENCE_MS } from '../../../src/client/gate/gate-limits.ts'
import type { BreakerOptions } from '../../../src/client/gate/gate-options.ts'

import { isFlaky } from '../../../src/client/gate/gate-state.ts'
import { OriginGate } from '../../../src/client/gate/origin-gate.ts'
import { type BudgetOptions, createRetryBudget, type OriginStates } from '../../../src/client/gate/retry-budget.ts'
import { spreadUntil } from '../../../src/client/gate/spread.ts'
import type { Entry, Refused, Sent } from '../../../src/client/gate/waiting-line.ts'
import type { RetryOptions } from '../../../src/client/options.ts'
import { decideRetry } from '../../../src/client/policy/decide.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'
import { DEFAULT_RETRY, resolveRetry } from '../../../src/client/policy/resolve-retry.ts'
import type { ResolvedRetry } from '../../../src/client/policy/resolved-options.ts'
import type { Clock } from '../../../src/foundation/clock.ts'
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
  /** How many kept operations a process takes up at once. */
  readonly concurrency?: number
  /** So many clients, one after the other, share their state, as tabs do. */
  readonly sharing?: number
  /** One budget for all clients of a fleet. */
  readonly sharedBudget?: FleetSharing
  /** What the next process finds in the journal beside the operations: what was known of the origin, or nothing. */
  readonly state?: 'restored' | 'forgotten'
}

interface Settings extends HoldfastOptions {
  readonly limits: GateLimits
  readonly resolved: ResolvedRetry
}

/** Holdfast: the library's own gate and decisions, in a loop like its engine's. */
export function holdfastPolicy(name: string, options: HoldfastOptions = {}): Policy {
  const budget = options.budget === false ? false : (createRetryBudget(options.budget) as OriginStates).limits
  const limits: GateLimits = { budget, breaker: resolveBreaker(options.breaker) }
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
  spreadUntil: number | undefined
  readonly ended: (end: 'succeeded' | 'failed' | Stop) => void
}

interface Attempted {
  readonly end: AttemptEnd
  readonly sent: Sent
  readonly sentAt: number
  readonly floorMs: number | undefined
}

const DEADLINE_MS = 30_000
/** The gate decides how many of them are in flight. */
const CONCURRENCY = 5000

interface Surroundings {
  readonly memory: Memory
  readonly link: FleetLink | undefined
  readonly world: World
}

class HoldfastClient implements ClientModel {
  readonly #settings: Settings
  readonly #memory: Memory
  readonly #fleet: FleetLink | undefined
  readonly #world: World
  readonly #gate: OriginGate
  readonly #kept: KeptOperations

  constructor(settings: Settings, { memory, link, world }: Surroundings) {
    this.#settings = settings
    this.#memory = memory
    this.#fleet = link
    this.#world = inOurTime(world)
    const { limits, concurrency: atOnce = CONCURRENCY } = settings
    this.#gate = new OriginGate({ limits, clock: clockOf(this.#world), random: world.random, store: memory })
    const heldUntil = (): number => {
      if (this.#gate.waitingKept > 0) return this.#world.now + 1
      return (this.#gate.keptUntil() ?? 0) - PATIENCE_MS
    }
    this.#kept = new KeptOperations(this.#world, { atOnce, heldUntil }, (operation, end) =>
      this.#resume(operation, end),
    )
    for (const operation of memory.kept) this.#kept.keep(operation, { reason: 'network', tried: false })
  }

  get #keeps(): boolean {
    return this.#settings.onGiveUp === 'keep'
  }

  /** On record before it is sent: a call that waits when its process dies is found by the next one. */
  submit(operation: Operation): void {
    if (this.#keeps) this.#memory.kept.add(operation)
    this.#start(operation, 'call', (end) => {
      if (typeof end !== 'string') this.#giveUp(operation, end)
      else {
        this.#memory.kept.delete(operation)
        this.#world.settle(operation, end)
      }
    })
  }

  #giveUp(operation: Operation, stop: Stop): void {
    this.#world.settle(operation, this.#keeps ? 'kept' : 'failed')
    if (this.#keeps) this.#kept.keep(operation, stop)
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
    this.#enter({ operation, mode, deadlineAt, attempts: 0, previousMs, spreadUntil: undefined, ended })
  }

  #enter(run: Run): void {
    const { now } = this.#world
    const { attempts, spreadUntil, deadlineAt } = run
    const first = run.mode === 'resume' ? 'kept' : 'call'
    const kind = attempts > 0 ? 'retry' : first
    const leaveAt = run.mode === 'resume' ? Math.min(deadlineAt, now + PATIENCE_MS) : deadlineAt
    if (kind === 'retry') this.#hearFleet()
    const departure = { kind, spreadUntil, leaveAt } as const
    const entry = this.#gate.enter(departure)
    if (entry) this.#follow(run, entry)
    else this.#gate.join({ ...departure, called: (later) => this.#follow(run, later) })
  }

  #follow(run: Run, entry: Entry): void {
    if (entry.is !== 'sent') this.#refused(run, entry)
    else if (entry.kind === 'retry' && this.#fleet) this.#payFleet(run, entry, this.#fleet)
    else this.#send(run, entry)
  }

  #refused(run: Run, { is, retryAt }: Refused): void {
    if (is === 'open') this.#stop(run, { reason: 'breaker', retryAt })
    else if (run.attempts > 0 || run.mode === 'call') this.#stop(run, { reason: 'deadline', retryAt })
    else this.#stop(run, { reason: 'budget', retryAt: retryAt ?? this.#gate.keptUntil() })
  }

  #hearFleet(): void {
    const lowest = this.#fleet?.lowest() ?? Number.POSITIVE_INFINITY
    const { state } = this.#gate
    if (lowest < state.tokens) this.#memory.state = { ...state, tokens: lowest }
  }

  /** Its own bucket has paid: that is never exceeded for the sake of the fleet's. If the fleet has no token, it has none. */
  #payFleet(run: Run, sent: Sent, fleet: FleetLink): void {
    fleet.take(this.#gate.state.tokens, (isGranted) => {
      if (isGranted) {
        this.#send(run, sent)
        return
      }
      this.#memory.state = { ...this.#gate.state, tokens: 0 }
      this.#gate.report(sent, { outcome: 'ignored', tookMs: 0 })
      this.#enter(run)
    })
  }

  #send(run: Run, sent: Sent): void {
    const sentAt = this.#world.now
    this.#world.send(run.operation, (end, floorMs) => this.#conclude(run, { end, sent, sentAt, floorMs }))
  }

  #conclude(run: Run, { end, sent, sentAt, floorMs }: Attempted): void {
    run.attempts++
    const outcome = end === 'success' ? 'success' : 'failure'
    const wish = floorMs === undefined ? undefined : { retryAfterMs: floorMs }
    this.#gate.report(sent, { outcome, tookMs: this.#world.now - sentAt, wish })
    if (end === 'success') {
      const { budget } = this.#settings.limits
      if (budget) this.#fleet?.deposit(budget.ratio)
      this.#kept.reconsider()
      run.ended('succeeded')
    } else if (end === 'do-not-retry') run.ended('failed')
    else this.#decide(run, floorMs)
  }

  #decide(run: Run, floorMs: number | undefined): void {
    const { now, random } = this.#world
    const { deadlineAt, attempts: attemptsMade, previousMs } = run
    const standing = { now, deadlineAt, horizonAt: Number.POSITIVE_INFINITY, attemptsMade, previousMs, floorMs }
    const decision = decideRetry({ ...standing, retry: this.#settings.resolved }, random)
    if (decision.do === 'stop') this.#stop(run, decision)
    else if (this.#gate.phase === 'open') this.#stop(run, { reason: 'breaker', retryAt: this.#gate.refuseCall() })
    else {
      run.previousMs = decision.backoffMs
      const { limits, resolved } = this.#settings
      const { failedAt = now } = this.#gate.state
      const isSet = !resolved.spreads || floorMs !== undefined
      const isLast = attemptsMade + 1 === resolved.maxAttempts && run.mode === 'call' && !isFlaky(this.#gate.state)
      const next = { retry: attemptsMade, now, failedAt, isLast, deadlineAt }
      run.spreadUntil = isSet ? undefined : spreadUntil(next, limits, random)
      this.#world.after(decision.delayMs, () => this.#enter(run))
    }
  }

  #stop(run: Run, { reason, retryAt }: Omit<Stop, 'tried'>): void {
    run.ended({ reason, retryAt, tried: run.attempts > 0 })
  }
}

function clockOf(world: World): Clock {
  return {
    now: () => world.now,
    sleep: () => Promise.reject(new Error('nobody sleeps here')),
    after: (ms, callback) => {
      let isCancelled = false
      world.after(ms, () => {
        if (!isCancelled) callback()
      })
      return () => {
        isCancelled = true
      }
    },
  }
}
