import { endAttempt } from '../operation/transition.ts'
import type { Verdict } from '../policy/classify.ts'
import type { AttemptResult } from './attempt.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/** What is known of an attempt that has just ended. */
export interface EndedAttempt {
  readonly result: AttemptResult
  readonly verdict: Verdict
  readonly startedAt: number
  /** Did it carry the key? Then the answer may say for how long the server remembers it. */
  readonly keyed: boolean
}

/** Puts the end of an attempt on the operation's record, and tells of it. */
export function noteAttemptEnd(engine: EngineContext, operation: LiveOperation, ended: EndedAttempt): void {
  const { result, verdict, startedAt, keyed } = ended
  const now = engine.clock.now()
  const { facts, fault } = result
  const floorMs = verdict.is === 'retry' ? verdict.floorMs : undefined
  const record = endAttempt(keyed ? engine.horizons.learn(operation.record, facts) : operation.record, {
    startedAt,
    durationMs: now - startedAt,
    status: facts.is === 'answer' ? facts.status : undefined,
    fault,
    effect: verdict.effect,
    notBefore: floorMs === undefined ? undefined : now + floorMs,
  })
  operation.record = record
  const attempt = record.attempts.at(-1)
  if (attempt) engine.events.tellOf(record, { type: 'attempt.ended', at: now, attempt, effect: verdict.effect })
}
