import type { Plan } from '../plan.ts'
import type { Effect } from '../wire.ts'
import { judgeBlips } from './blip-rule.ts'
import { isHonest } from './claim-rules.ts'
import { type CallFact, isLateCopy } from './facts.ts'
import { judgeHeldUp } from './lane-rule.ts'
import type { Oracle } from './oracle.ts'
import { judgePromptness } from './promptness-rule.ts'
import { labelOf, type Shadow } from './shadow.ts'

/** What can only be judged when everything has come to its end: P3 and P4. */
export function judgeEnd(oracle: Oracle, plan: Plan, effects: readonly Effect[]): void {
  const honest = isHonest(plan)
  judgeEffects(oracle, { honest, effects })
  for (const call of oracle.calls) judgeCall(oracle, call, honest ? effects : undefined)
  for (const call of oracle.calls) oracle.breaks(judgeBlips(call, plan))
  for (const violation of judgePromptness(oracle, plan)) oracle.breaks(violation)
  for (const shadow of oracle.shadows.values()) {
    judgeRecord(oracle, shadow)
    if (honest) judgeRecordedEffect(oracle, shadow, effects)
  }
}

function judgeEffects(oracle: Oracle, { honest, effects }: { honest: boolean; effects: readonly Effect[] }): void {
  const counts = new Map<string, number>()
  for (const { label } of effects) counts.set(label, (counts.get(label) ?? 0) + 1)
  for (const [label, count] of counts) {
    if (count <= 1) continue
    if (honest) oracle.breaks(['P3', `${label} was done ${count} times`])
    else oracle.observed('doubled by a short window')
  }
}

/** A server that forgets too early may do it in spite of its answer; then only the answer is judged. */
function judgeCall(oracle: Oracle, call: CallFact, effects: readonly Effect[] | undefined): void {
  const { result, process, plan } = call
  if (!result) {
    if (process.alive) oracle.breaks(['P4', `the caller of ${plan.label} never got a result`])
    return
  }
  oracle.breaks(judgeHeldUp(call, oracle.shadows))
  if (result.is !== 'error' || !effects) return
  const { error } = result
  const mine = effects.filter((effect) => effect.label === plan.label)
  if (error.effect === 'none' && !error.pending && mine.some((effect) => isOnAccountOf(oracle, call, effect))) {
    oracle.breaks(['P3', `${plan.label} got effect none (${error.name}, ${error.reason}), and had been done`])
  }
  if (error.effect === 'applied' && mine.length === 0) {
    oracle.breaks(['P3', `${plan.label} got effect applied, and had not been done`])
  }
}

/**
 * Was it done by a request that this call has to answer for? With attempts on it, an error speaks for the whole
 * operation up to then; without, for what this call did. Requests for which another call answers don't count.
 */
function isOnAccountOf(oracle: Oracle, call: CallFact, { sent, at }: Effect): boolean {
  const fact = sent === undefined ? undefined : oracle.sents[sent - 1]
  const { result } = call
  if (!fact || result?.is !== 'error') return false
  if (isLateCopy(fact, at)) return false
  const { appendedAt: bornAt = 0 } = oracle.shadows.get(result.error.operation?.key ?? '') ?? {}
  // By a life of its key that was over, and forgotten, when this call was made.
  if (fact.at < Math.min(bornAt, result.at)) return false
  if (fact.at <= result.at && result.error.attempts.length > 0) return true
  if (fact.at < call.at || fact.sent.key !== result.error.operation?.key) return false
  return !oracle.calls.some(
    (other) => other !== call && other.plan.label === call.plan.label && answersFor(other, fact.at),
  )
}

/** Was the call still open then, or left to be carried on, or aborted, which promises nothing? */
function answersFor({ at, result }: CallFact, when: number): boolean {
  if (at > when) return false
  return !result || result.at >= when || result.is === 'other' || (result.is === 'error' && result.error.pending)
}

/** The effect on a settled record is what a handler, or a later caller, gets. */
function judgeRecordedEffect(oracle: Oracle, shadow: Shadow, effects: readonly Effect[]): void {
  const { key, status, head, settledAt } = shadow
  const label = labelOf(shadow)
  if (status === 'pending' || head.effect !== 'none') return
  const before = effects.some((effect) => {
    const fact = oracle.sents[(effect.sent ?? 0) - 1]
    const leftAt = fact?.at ?? 0
    const isMine = effect.key === key && effect.label === label && !isLateCopy(fact, effect.at)
    return isMine && leftAt >= shadow.appendedAt && leftAt < settledAt
  })
  if (before) oracle.breaks(['P3', `an operation is on record as ${status} without effect, and had been done`])
}

function judgeRecord(oracle: Oracle, shadow: Shadow): void {
  // It can't be told any more what was accepted.
  if (shadow.setAside) return
  const label = labelOf(shadow)
  const calls = oracle.calls.filter((call) => call.plan.label === label)
  const accepted = calls.some((call) => call.accepted)
  if (shadow.open) {
    const what = shadow.status === 'pending' ? `is still pending (${shadow.head.heldBy})` : 'has not been delivered'
    oracle.breaks(['P4', `${label} ${what}`])
  }
  if (shadow.settlements > 1 + shadow.reopenings) {
    oracle.breaks(['P4', `${label} was settled ${shadow.settlements} times and reopened ${shadow.reopenings} times`])
  }
  const done = oracle.doneInThisLife(shadow.key)
  const dropped = !shadow.there && shadow.status === 'pending'
  const isAnswered = calls.some((call) => call.result !== undefined)
  if (accepted && dropped && done === 0 && !isAnswered && oracle.roster.isAlive(shadow.removedBy ?? '')) {
    oracle.breaks(['P4', `${label} was accepted, and is lost: neither done, nor on record, nor reported`])
  }
  const owed = shadow.name !== null && (accepted || shadow.settlements > 0)
  const takenBack = dropped && done === 0
  if (owed && shadow.taken === 0 && !takenBack)
    oracle.breaks(['P4', `${label} settled, and its handler was never called`])
}
