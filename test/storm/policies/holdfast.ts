import { PATIENCE_MS } from '../../../src/client/engine/run/containments.ts'
import type { BreakerLimits, BudgetLimits, GateLimits } from '../../../src/client/gate/gate-limits.ts'
import { keptUntil } from '../../../src/client/gate/gate-state.ts'
import { OriginGate, type Ticket } from '../../../src/client/gate/origin-gate.ts'
import { spreadDelay } from '../../../src/client/gate/spread.ts'
import { decideRetry } from '../../../src/client/policy/decide.ts'
import { DEFAULT_RETRY, resolveRetry } from '../../../src/client/policy/resolve-retry.ts'
import type { ResolvedRetry } from '../../../src/client/policy/resolved-options.ts'
import type { Clock } from '../../../src/foundation/clock.ts'
import { type GateMemory, newGateMemory } from './gate-memory.ts'
import { KeptOperations, type Stop } from './kept-operations.ts'
import { inOurTime } from './our-time.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policy.ts'

export interface GatedOptions {
  readonly onGiveUp?: 'fail' | 'keep'
  readonly budget?: Partial<BudgetLimits> | false
  readonly breaker?: Partial<BreakerLimits> | false
  /** How many kept operations a process resumes at once. */
  readonly concurrency?: number
  /** So many clients, one after the other, share their state, as tabs do. */
  readonly sharing?: number
  /** What the next process finds in the journal beside the operations: what was known of the origin, or nothing. */
  readonly state?: 'restored' | 'forgotten'
}

interface Settings extends GatedOptions {
  readonly limits: GateLimits
  readonly resolved: ResolvedRetry
}

const BUDGET = { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 2 }
const BREAKER = { openAfterMs: 5000, openForMs: 2000 }

/** Holdfast with the gate of an origin: the library's own gate, in a loop like its engine's. */
export function gatedPolicy(name: string, options: GatedOptions = {}): Policy {
  const limits: GateLimits = {
    budget: options.budget === false ? false : { ...BUDGET, ...options.budget },
    breaker: options.breaker === false ? false : { ...BREAKER, ...options.breaker },
  }
  const settings = { ...options, limits, resolved: resolveRetry(undefined, DEFAULT_RETRY) }
  const sharing = options.sharing ?? 1
  let made = 0
  let shared = newGateMemory()
  return {
    name,
    newMemory: (former = newGateMemory()) =>
      options.state === 'forgotten' ? { ...(former as GateMemory), state: undefined } : former,
    newClient: (world, memory) => {
      if (!memory && made++ % sharing === 0) shared = newGateMemory()
      return new GatedClient(settings, (memory as GateMemory | undefined) ?? shared, world)
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
  readonly ticket: Ticket
  readonly sentAt: number
  readonly floorMs: number | undefined
}

const DEADLINE_MS = 30_000
/** The gate decides how many of them are in flight. */
const CONCURRENCY = 100

class GatedClient implements ClientModel {
  readonly #settings: Settings
  readonly #memory: GateMemory
  readonly #world: World
  readonly #gate: OriginGate
  readonly #kept: KeptOperations

  constructor(settings: Settings, memory: GateMemory, world: World) {
    this.#settings = settings
    this.#memory = memory
    this.#world = inOurTime(world)
    const { limits, concurrency: atOnce = CONCURRENCY } = settings
    this.#gate = new OriginGate({ limits, clock: clockOf(this.#world), random: world.random, store: memory })
    const heldUntil = (): number => (keptUntil(this.#gate.state, limits, this.#world.now) ?? 0) - PATIENCE_MS
    this.#kept = new KeptOperations(this.#world, { atOnce, heldUntil }, (operation, end) =>
      this.#resume(operation, end),
    )
    for (const operation of memory.kept) this.#kept.keep(operation, { reason: 'network', tried: false })
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
    this.#enter({ operation, mode, deadlineAt, attempts: 0, previousMs, spreadUntil: undefined, ended })
  }

  #enter(run: Run): void {
    const { attempts, spreadUntil } = run
    const first = run.mode === 'resume' ? 'kept' : 'call'
    let isWaiting = true
    const ticket: Ticket = {
      kind: attempts > 0 ? 'retry' : first,
      spreadUntil,
      admitted: () => {
        isWaiting = false
        this.#send(run, ticket)
      },
      refused: (retryAt) => {
        isWaiting = false
        this.#stop(run, { reason: 'breaker', retryAt })
      },
    }
    this.#gate.enter(ticket)
    if (isWaiting) this.#leaveInTime(run, ticket, () => isWaiting)
  }

  /** An operation that is resumed waits for a moment, a call until its deadline. */
  #leaveInTime(run: Run, ticket: Ticket, isWaiting: () => boolean): void {
    const { now } = this.#world
    const until = ticket.kind === 'kept' ? now + PATIENCE_MS : run.deadlineAt
    this.#world.after(until - now, () => {
      if (!isWaiting()) return
      this.#gate.leave(ticket)
      const retryAt = keptUntil(this.#gate.state, this.#settings.limits, this.#world.now)
      this.#stop(run, ticket.kind === 'kept' ? { reason: 'budget', retryAt } : { reason: 'deadline' })
    })
  }

  #send(run: Run, ticket: Ticket): void {
    const sentAt = this.#world.now
    this.#world.send(run.operation, (end, floorMs) => this.#conclude(run, { end, ticket, sentAt, floorMs }))
  }

  #conclude(run: Run, { end, ticket, sentAt, floorMs }: Attempted): void {
    run.attempts++
    const outcome = end === 'success' ? 'success' : 'failure'
    this.#gate.report(ticket, { outcome, tookMs: this.#world.now - sentAt })
    if (end === 'success') {
      this.#kept.reconsider()
      run.ended('succeeded')
    } else if (end === 'do-not-retry') run.ended('failed')
    else this.#decide(run, floorMs)
  }

  #decide(run: Run, floorMs: number | undefined): void {
    const { now, random } = this.#world
    if (this.#gate.phase === 'open') {
      this.#stop(run, { reason: 'breaker' })
      return
    }
    const { deadlineAt, attempts: attemptsMade, previousMs } = run
    const standing = { now, deadlineAt, horizonAt: Number.POSITIVE_INFINITY, attemptsMade, previousMs, floorMs }
    const decision = decideRetry({ ...standing, retry: this.#settings.resolved }, random)
    if (decision.do === 'stop') this.#stop(run, decision)
    else {
      run.previousMs = decision.backoffMs
      run.spreadUntil = now + spreadDelay(attemptsMade, this.#settings.limits, random)
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
