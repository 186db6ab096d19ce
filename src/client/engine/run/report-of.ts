import type { Report } from '../../gate/origin-gate.ts'
import { serverWish } from '../../gate/server-wish.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'

export interface EndedAttempt {
  readonly facts: AttemptFacts
  /** In a way that another attempt could mend. */
  readonly failed: boolean
  /** Stopped by the caller, or by a hook of the caller's. */
  readonly ours: boolean
  readonly tookMs: number
  readonly now: number
}

/** What the gate is told of an attempt. What was stopped or refused on this side says nothing about the server. */
export function reportOf({ facts, failed, ours, tookMs, now }: EndedAttempt): Report {
  const isRefusedHere = facts.is === 'fault' && !facts.transient && !facts.lasting
  if (ours || isRefusedHere) return { outcome: 'ignored', tookMs }
  if (facts.is === 'fault') return { outcome: 'failure', tookMs }
  const wish = serverWish(facts.status, facts.headers, now)
  if (facts.status >= 500) return { outcome: 'failure', tookMs, wish }
  return { outcome: failed ? 'overload' : 'success', tookMs, wish }
}
