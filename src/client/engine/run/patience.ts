import type { Reason } from '../../../errors/reason.ts'
import { PATIENCE_MS } from '../../gate/gate-limits.ts'
import type { RequestKind } from '../../gate/gate-state.ts'
import type { OriginGate } from '../../gate/origin-gate.ts'
import { blipMs } from '../../gate/spread.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from './live-operation.ts'

/** Whose request waits at its gate. */
export interface Patient {
  readonly engine: Pick<Engine, 'clock' | 'gates'>
  readonly operation: LiveOperation
  readonly call: Call
}

/**
 * Until when a request waits at its gate (epoch ms). Nobody waits for what a resume goes on with: it is put back soon, also if its
 * retry finds no token, since its next run has what kept operations have earned. A caller without a deadline of ours has one that we
 * don't know: the answer to its first attempt must not come too late for it because of a retry.
 */
export function patientUntil(kind: RequestKind, { engine, operation, call }: Patient): number {
  const now = engine.clock.now()
  const limitAt = Math.min(now + call.deadline.leftFrom(now), operation.record.horizonAt)
  if (kind === 'kept' || call.mode === 'resume') return Math.min(limitAt, now + PATIENCE_MS)
  const isAtWill = kind === 'retry' && call.deadline.isEndless
  return isAtWill ? Math.min(limitAt, now + blipMs(engine.gates.limits)) : limitAt
}

/** Has what a resume goes on with waited for nothing but its turn? Then it waits on. */
export function waitsOn(kind: RequestKind, gate: OriginGate, { engine, call }: Patient): boolean {
  if (!isFlowing(gate, engine.clock.now())) return false
  return kind === 'kept' || (call.mode === 'resume' && gate.state.tokens >= 1)
}

/** What holds a request up that waits at its gate. */
export function heldBy(gate: OriginGate): 'budget' | 'breaker' {
  return gate.phase === 'healthy' ? 'budget' : 'breaker'
}

/** Do kept operations go one after the other, as answers come home? Then the wait for one's turn says nothing of the server. */
function isFlowing(gate: OriginGate, now: number): boolean {
  return gate.phase === 'healthy' && (gate.keptUntil() ?? now) - now <= PATIENCE_MS
}

/** Why a request has waited in vain. */
export function reasonOfDelay(kind: RequestKind, gate: OriginGate, { operation, call }: Patient): Reason {
  if (kind === 'retry' && gate.state.tokens < 1) return 'budget'
  if (kind === 'kept' || call.deadline.isEndless) return heldBy(gate)
  return operation.record.horizonAt <= call.deadline.at ? 'horizon' : 'deadline'
}
