import type { Entry } from '../../../server/entry/entry.ts'
import type { Effect } from '../wire.ts'
import type { CallFact } from './facts.ts'
import type { Violation } from './oracle.ts'

/** P3: our own row about something that was done outside is there once, wherever anybody says that it was done. */
export function* judgeRows(
  calls: readonly CallFact[],
  entries: readonly Entry[],
  rows: readonly Effect[],
): Generator<Violation> {
  for (const { plan, result } of calls) {
    const count = rows.filter(({ label }) => label === plan.label).length
    if (count > 1) yield ['P3', `${plan.label} is in our own books ${count} times`]
    if (result?.is === 'response' && count === 0)
      yield ['P3', `${plan.label} got a success, and is not in our own books`]
  }
  for (const { key, state, answer } of entries) {
    if (state !== 'done' || !answer || answer.status >= 400 || rows.some((row) => row.key === key)) continue
    yield ['P3', `an entry is done with ${answer.status}, and its operation is not in our own books`]
  }
}
