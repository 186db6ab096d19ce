import type { Plan, Trouble } from '../plan.ts'
import type { CallFact } from './facts.ts'
import type { Violation } from './oracle.ts'

/** What happened before this says nothing about a call. */
const FORGOTTEN_MS = 15_000
/** For so long an API may be away. */
const LONGEST_BLIP_MS = 5000

/**
 * P6, with the usual options and time enough: while an API is away for five seconds or less, no call fails because of it, and none
 * after that, also if no other call comes to its client.
 */
export function judgeBlips(fact: CallFact, plan: Plan): Violation | undefined {
  const { plan: call, result } = fact
  const blip = onlyBlip(fact, plan)
  if (!blip || result?.is !== 'error' || result.error.reason === 'attempts') return undefined
  return ['P6', `${call.label} failed (${result.error.reason}) because of a blip of ${blip.until - blip.from} ms`]
}

/** Undefined where something else may be why it failed. */
function onlyBlip({ plan: call, at, result }: CallFact, plan: Plan): Trouble | undefined {
  const hasDefaults = plan.isQuiet && Object.keys(plan.options).length === 0
  const isPlain = call.lane === undefined && !call.outbox && call.deadlineMs >= 6 * LONGEST_BLIP_MS
  if (!hasDefaults || !isPlain) return undefined
  const endedAt = result?.at ?? Number.POSITIVE_INFINITY
  const isMet = ({ origin, from, until }: Trouble): boolean =>
    origin === call.origin && from <= endedAt && until >= at - FORGOTTEN_MS
  const [blip, ...others] = plan.troubles.filter(isMet)
  // A `client.fetch` has no attempt timeout that its client was not given: no answer takes all of its time.
  const isEndless = blip?.kind === 'hangs' && call.through === 'fetch'
  return blip?.fault === 'api-blips' && others.length === 0 && !isEndless ? blip : undefined
}
