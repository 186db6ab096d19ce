import {
  askLeave,
  type Containment,
  type ContainmentLimits,
  DEFAULT_CONTAINMENT,
  learnOutcome,
  newContainment,
  type RequestKind,
} from '../../../src/client/policy/containment.ts'
import { decideRetry } from '../../../src/client/policy/decide.ts'
import { DEFAULT_RETRY } from '../../../src/client/policy/resolve-retry.ts'
import { KeptOperations, type Stop } from './kept-operations.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policy.ts'

export interface ContainedOptions {
  readonly limits?: Partial<ContainmentLimits>
  readonly giveUp?: 'fail' | 'keep'
  readonly waits?: boolean
  readonly ask?: 'before-delay' | 'after-delay'
  readonly maxAttempts?: number
  readonly sharing?: number
}

/** The level outlives a client in here, as a journal would keep it. */
export interface Memory {
  state: Containment | undefined
  kept: Operation[]
}

export function containedPolicy(name: string, options: ContainedOptions = {}): Policy {
  const limits = { ...DEFAULT_CONTAINMENT, ...options.limits }
  let made = 0
  let memory: Memory = { state: undefined, kept: [] }
  return {
    name,
    newClient: (world, given) => {
      if (given) return new ContainedClient({ limits, options }, given as Memory, world)
      if (made++ % (options.sharing ?? 1) === 0) memory = { state: undefined, kept: [] }
      return new ContainedClient({ limits, options }, memory, world)
    },
    newMemory: () => ({ state: undefined, kept: [] }),
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

const DEADLINE_MS = 30_000

class ContainedClient implements ClientModel {
  readonly #limits: ContainmentLimits
  readonly #options: ContainedOptions
  readonly #memory: Memory
  readonly #world: World
  readonly #kept: KeptOperations

  constructor({ limits, options }: { limits: ContainmentLimits; options: ContainedOptions }, memory: Memory, world: World) {
    this.#limits = limits
    this.#options = options
    this.#memory = memory
    this.#world = world
    this.#kept = new KeptOperations(world, 8, (operation, end) => this.#start(operation, 'resume', end), 'after-asking')
    const left = memory.kept.splice(0)
    for (const operation of left) this.adopt(operation)
  }

  get #state(): Containment {
    this.#memory.state ??= newContainment(this.#limits, this.#world.now)
    return this.#memory.state
  }

  adopt(operation: Operation): void {
    this.#kept.keep(operation, { reason: 'network', tried: false })
  }

  submit(operation: Operation): void {
    this.#start(operation, 'call', (end) => {
      if (typeof end === 'string') return this.#world.settle(operation, end)
      const keeps = this.#options.giveUp === 'keep'
      this.#world.settle(operation, keeps ? 'kept' : 'failed')
      if (keeps) this.#kept.keep(operation, end)
    })
  }

  #start(operation: Operation, mode: Run['mode'], ended: Run['ended']): void {
    const deadlineAt = this.#world.now + DEADLINE_MS
    this.#step({ operation, mode, deadlineAt, attempts: 0, previousMs: DEFAULT_RETRY.baseMs, probe: undefined, ended })
  }

  #kindOf(run: Run): RequestKind {
    if (run.attempts > 0) return 'retry'
    return run.mode === 'resume' ? 'kept' : 'call'
  }

  #step(run: Run): void {
    const { now, random } = this.#world
    const kind = this.#kindOf(run)
    const { state, given, reason = 'budget', retryAt = now, probe } = askLeave(this.#state, this.#limits, { now, kind, random })
    this.#memory.state = state
    run.probe = probe
    if (given) {
      this.#world.send(run.operation, (end, floorMs) => this.#conclude(run, { end, kind, sentAt: now, floorMs }))
      return
    }
    const waits = this.#options.waits && run.mode === 'call' && retryAt < run.deadlineAt
    if (waits) this.#world.after(Math.max(1, retryAt - now) * (1 + random()), () => this.#step(run))
    else this.#stop(run, { reason, retryAt })
  }

  #conclude(run: Run, { end, kind, sentAt, floorMs }: { end: AttemptEnd; kind: RequestKind; sentAt: number; floorMs: number | undefined }): void {
    const { now, random } = this.#world
    run.attempts++
    const outcome = end === 'success' ? 'success' : 'failure'
    this.#memory.state = learnOutcome(this.#state, this.#limits, { now, kind, outcome, tookMs: now - sentAt, probe: run.probe, random })
    if (end === 'success') run.ended('succeeded')
    else if (end === 'do-not-retry') run.ended('failed')
    else this.#decide(run, floorMs)
  }

  #decide(run: Run, floorMs: number | undefined): void {
    const { now, random } = this.#world
    const { deadlineAt, attempts: attemptsMade, previousMs } = run
    const retry = { ...DEFAULT_RETRY, maxAttempts: this.#options.maxAttempts ?? 5 }
    const question = { now, deadlineAt, horizonAt: Number.POSITIVE_INFINITY, attemptsMade, retry, previousMs, floorMs }
    const decision = decideRetry(question, random)
    if (decision.do === 'stop') return this.#stop(run, decision)
    if (this.#options.ask !== 'after-delay' && !this.#options.waits && this.#limits.budget && this.#state.level < 0) return this.#stop(run, { reason: 'budget' })
    run.previousMs = decision.backoffMs
    this.#world.after(decision.delayMs, () => this.#step(run))
  }

  #stop(run: Run, { reason, retryAt }: Omit<Stop, 'tried'>): void {
    run.ended({ reason, retryAt, tried: run.attempts > 0 })
  }
}
