import type { Reason } from '../../errors/reason.ts'
import type { RequestKind, RequestOutcome } from '../policy/containment.ts'
import type { AttemptResult } from './attempt.ts'
import { PATIENCE_MS } from './containments.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'
import { pauseFor } from './pause-for.ts'

/** Why a run stops, and when it would be worth trying again. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
}

/** What an attempt needs from its origin before it may start, and what the origin learns from it. */
export class Admission {
  readonly #engine: EngineContext
  readonly #operation: LiveOperation
  readonly #origin: string
  readonly #barred: () => Stop | undefined
  /** Of the attempt that has leave. */
  #kind: RequestKind | undefined
  #probe: number | undefined

  /** `barred`: why the run can't go on after it has waited for leave. */
  constructor(engine: EngineContext, operation: LiveOperation, barred: () => Stop | undefined) {
    this.#engine = engine
    this.#operation = operation
    this.#origin = operation.record.request.origin
    this.#barred = barred
  }

  /** Leave for the next attempt. It must be answered with `learn` or `withdraw`. A retry was paid for when it was decided. */
  enter(kind: RequestKind): Stop | undefined | Promise<Stop | undefined> {
    return kind === 'kept' ? this.#enterKept() : this.#ask(kind)
  }

  /** An operation that is resumed waits for others of its origin that are on their way, and for a moment. */
  async #enterKept(): Promise<Stop | undefined> {
    const { containments, clock } = this.#engine
    for (;;) {
      const refused = this.#ask('kept')
      if (!refused) return undefined
      const { retryAt = Number.POSITIVE_INFINITY } = refused
      const ended = containments.nextKeptEnd(this.#origin)
      if (ended) await ended
      else if (retryAt - clock.now() <= PATIENCE_MS)
        await pauseFor(this.#engine, this.#operation, retryAt - clock.now())
      else {
        if (refused.reason === 'budget') containments.tellExhausted(this.#origin)
        return Number.isFinite(retryAt) ? refused : { reason: refused.reason }
      }
      const stop = this.#barred()
      if (stop) return stop
    }
  }

  #ask(kind: RequestKind): Stop | undefined {
    const { given, reason = 'budget', retryAt, probe } = this.#engine.containments.ask(this.#origin, kind)
    if (!given) return { reason, retryAt }
    this.#kind = kind
    this.#probe = probe
    return undefined
  }

  /** A retry costs a token. */
  payForRetry(): boolean {
    return this.#engine.containments.payForRetry(this.#origin)
  }

  /** The attempt did not start after all, or nobody will ever know how it ended: others must not wait for it. */
  withdraw(): void {
    this.#tell('ignored', 0)
  }

  /** The attempt ended. What was stopped or refused on this side says nothing about the server. */
  learn({ result, failed, ours, tookMs }: Learned): void {
    const { facts } = result
    const unwell = facts.is === 'fault' || facts.status >= 500
    const refusedHere = facts.is === 'fault' && !facts.transient && !facts.lasting
    const answered = failed ? 'overload' : 'success'
    this.#tell(ours || refusedHere ? 'ignored' : unwell ? 'failure' : answered, tookMs)
  }

  #tell(outcome: RequestOutcome, tookMs: number): void {
    const kind = this.#kind
    if (kind === undefined) return
    this.#kind = undefined
    this.#engine.containments.learn(this.#origin, { kind, outcome, tookMs, probe: this.#probe })
  }
}

interface Learned {
  readonly result: AttemptResult
  /** In a way that another attempt could mend. */
  readonly failed: boolean
  readonly ours: boolean
  readonly tookMs: number
}
