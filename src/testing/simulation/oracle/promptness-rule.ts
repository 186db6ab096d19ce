import type { Plan } from '../plan.ts'
import type { CallFact, SentFact } from './facts.ts'
import type { Oracle, Violation } from './oracle.ts'
import { labelOf, type Shadow } from './shadow.ts'

/** What holds up nobody else may take so long. */
const PROMPT_MS = 1000
/** So long before its end a continuous resume may not take up any more. */
const LAST_LOOK_MS = 1500

/**
 * P11, in histories in which nothing goes wrong but some APIs and some handlers: what is for an API without trouble leaves at
 * once, and what is for a handler that works is handed over at once. Where operations of one API, or settlements of one name, wait
 * for each other, the time counts from the last of these.
 */
export function* judgePromptness(oracle: Oracle, plan: Plan): Generator<Violation> {
  if (!plan.isQuiet) return
  const first = firstRequests(oracle.sents)
  for (const call of oracle.calls) yield* judgeCall(call, first.get(call.plan.label), plan)
  yield* judgeKept(oracle, plan, first)
  yield* judgeHandlers([...oracle.shadows.values()], plan)
}

function firstRequests(sents: readonly SentFact[]): ReadonlyMap<string, SentFact> {
  const first = new Map<string, SentFact>()
  for (const fact of sents) if (!first.has(fact.sent.label)) first.set(fact.sent.label, fact)
  return first
}

function isWell(origin: string, { troubles }: Plan): boolean {
  return !troubles.some((trouble) => trouble.origin === origin)
}

function* judgeCall(
  { plan: call, at, result }: CallFact,
  first: SentFact | undefined,
  plan: Plan,
): Generator<Violation> {
  if (!isWell(call.origin, plan) || call.lane !== undefined || call.outbox) return
  if (first && first.at - at > PROMPT_MS)
    yield ['P11', `${call.label} was called for an API that is well, and left ${first.at - at} ms later`]
  if (result && result.is !== 'response') yield ['P11', `${call.label} was called for an API that is well, and failed`]
}

/** Each was written in a transaction, and waits for a resume. */
function* judgeKept(oracle: Oracle, plan: Plan, first: ReadonlyMap<string, SentFact>): Generator<Violation> {
  const lastLook = plan.watchMs - LAST_LOOK_MS
  for (const { origin, label, count, lane } of plan.backlogs) {
    if (!isWell(origin, plan) || !isResumed(origin, plan)) continue
    const operations = [...oracle.shadows.values()].filter((shadow) => labelOf(shadow).startsWith(label))
    if (operations.length !== count) continue
    const progress = progressOf(oracle, plan, { origin, lane })
    for (const shadow of operations) {
      const leftAt = first.get(labelOf(shadow))?.at ?? Number.POSITIVE_INFINITY
      const free = freeSince(shadow, operations)
      const since = Math.max(free, lastBefore(progress, leftAt))
      if (free > lastLook || since > lastLook || leftAt - since <= PROMPT_MS) continue
      yield ['P11', `${labelOf(shadow)} is for an API that is well, and was not sent for ${leftAt - since} ms`]
      break
    }
  }
}

/** Does a continuous resume send these, whatever other APIs do? With few slots, requests that hang may have them all. */
function isResumed(origin: string, { slots, concurrency, troubles }: Plan): boolean {
  const holdsSlots = troubles.some(({ kind }) => kind === 'hangs' || kind === 'slow')
  if (concurrency !== undefined && holdsSlots) return false
  return slots.some(({ resume, trusts, origin: own }) => resume === 'watch' && [own, ...trusts].includes(origin))
}

/** When something else of the same kind was sent or has ended. With few slots, that is any operation that has had its turn. */
function progressOf(
  oracle: Oracle,
  { concurrency }: Plan,
  { origin, lane }: Pick<SentFact['sent'] & { origin: string; lane: string | undefined }, 'origin' | 'lane'>,
): number[] {
  const isMine = ({ sent: { url, key } }: SentFact): boolean => {
    if (url.startsWith(`${origin}/`)) return true
    return concurrency !== undefined && (lane !== undefined || oracle.shadows.get(key)?.lane === null)
  }
  return oracle.sents.filter(isMine).flatMap(({ at, endedAt }) => (endedAt === undefined ? [at] : [at, endedAt]))
}

function freeSince({ lane, place, appendedAt }: Shadow, others: readonly Shadow[]): number {
  if (lane === null) return appendedAt
  const before = others.filter((other) => other.place < place)
  return Math.max(appendedAt, ...before.map(({ status, settledAt }) => (status === 'succeeded' ? settledAt : Infinity)))
}

function lastBefore(times: readonly number[], before: number): number {
  return times.reduce((last, time) => (time < before ? Math.max(last, time) : last), 0)
}

function* judgeHandlers(shadows: readonly Shadow[], { hangingName, watchMs }: Plan): Generator<Violation> {
  for (const { name, status, settledAt, calledAt = Number.POSITIVE_INFINITY, ...shadow } of shadows) {
    if (name === null || name === hangingName || status === 'pending') continue
    const same = shadows.filter((other) => other.name === name).flatMap(({ handledAt }) => handledAt ?? [])
    const since = Math.max(settledAt, lastBefore(same, calledAt))
    if (since > watchMs - LAST_LOOK_MS || calledAt - since <= PROMPT_MS) continue
    yield [
      'P11',
      `a settlement of ${labelOf(shadow)}, whose handler works, was not delivered for ${calledAt - since} ms`,
    ]
    return
  }
}
