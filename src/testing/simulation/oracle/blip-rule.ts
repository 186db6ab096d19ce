import type { Plan, Trouble } from '../plan.ts'
import type { CallFact } from './facts.ts'
import type { Violation } from './oracle.ts'

/** What happened before this says nothing about a call. */
const FORGOTTEN_MS = 15_000

/** P6: with the usual options and time enough, no call fails because its API was away for five seconds or less. */
export function judgeBlips({ plan: call, at, result }: CallFact, plan: Plan): Violation | undefined {
  const hasDefaults = Object.keys(plan.options).length === 0
  if (!plan.isQuiet || !hasDefaults || result?.is !== 'error' || call.lane !== undefined || call.outbox)
    return undefined
  const met = plan.troubles.filter(
    ({ origin, from, until }) => origin === call.origin && from <= result.at && until >= at - FORGOTTEN_MS,
  )
  if (call.deadlineMs < 30_000 || met.length !== 1 || met[0]?.fault !== 'api-blips') return undefined
  return ['P6', `${call.label} failed (${result.error.reason}) because of ${shown(met[0])}`]
}

function shown({ kind, from, until }: Trouble): string {
  return `a blip of ${until - from} ms (${kind})`
}
