import type { CallFact } from './facts.ts'
import type { Violation } from './oracle.ts'
import { labelOf, type Shadow } from './shadow.ts'
import type { Leaving } from './wire-rules.ts'

/** Do the operations behind it have to wait for it, by what is on record of it? In the words of the contract. */
export function stopsItsLane({ there, lane, freed, status, head }: Shadow): boolean {
  if (!there || freed || lane === null || status === 'succeeded' || status === 'cancelled') return false
  const goesOn = head.laneOnFailure === 'continue'
  if (status === 'pending') return !(goesOn && head.heldBy === 'poison')
  // A caller that gave up before its turn has taken its operation along.
  return !goesOn && head.reason !== 'lane'
}

/** No attempt leaves while an earlier operation of the lane has not let it go. Of a runner without the lease, P8 speaks. */
export function leavesOutOfTurn({ sent, process, shadows }: Leaving, shadow: Shadow): Violation | undefined {
  if (shadow.lane === null || shadow.owner !== process.owner) return undefined
  for (const other of shadows.values()) {
    if (other.lane !== shadow.lane || other.place >= shadow.place || !stopsItsLane(other)) continue
    const states = `${labelOf(other)} (${other.status})`
    return ['lanes', `request ${sent.number} of ${labelOf(shadow)} leaves although ${states} is before it in its lane`]
  }
  return undefined
}

/** A caller is held up by a lane only where its operation has one, and another operation has been in it. */
export function judgeHeldUp({ plan, result }: CallFact, shadows: ReadonlyMap<string, Shadow>): Violation | undefined {
  if (result?.is !== 'error' || result.error.reason !== 'lane') return undefined
  const own = shadows.get(result.error.operation?.key ?? '')
  const others = [...shadows.values()].filter((other) => other !== own && own && other.lane === own.lane)
  const isInLane = own ? own.lane !== null && others.length > 0 : plan.lane !== undefined
  return isInLane ? undefined : ['lanes', `${plan.label} was held up by a lane that has no other operation`]
}
