import type { Effect } from '../../errors/reason.ts'
import { HEADER, isReplayed, readRetention } from '../../protocol/header-names.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { parseKey } from '../../protocol/idempotency-key.ts'
import { PROBLEM, type ProblemDetails } from '../../protocol/problem-details.ts'

/*
 * What an answer, or the lack of one, proves. `none` is a claim that callers act on: they do it again with a new key. So
 * `none` needs a proof, and everything without one is `unknown`:
 *
 *   of one attempt       our own transport saw that no byte left; or the answer is a refusal
 *   of earlier attempts  the answer is a final refusal, and shows that its server has looked the key up
 */

/** An answer that was accepted as the API's own. */
export interface AnswerFacts {
  readonly is: 'answer'
  readonly status: number
  readonly headers: HeaderList
  readonly problem: ProblemDetails | undefined
  /** Did it come from somewhere else than was asked? Then what was asked may have been done before it was sent on. */
  readonly redirected: boolean
  /** Is it the answer to a GET that a redirect made of the request? Then it is no success of what was asked. */
  readonly answersGet?: boolean | undefined
  /** Has a dispatcher sent the request before by itself? Then it says of that try what a later attempt says of an earlier one. */
  readonly mayBeRepeat?: boolean | undefined
}

/** No usable answer: the network failed, the attempt timed out, or the answer was not the API speaking. */
export interface FaultFacts {
  readonly is: 'fault'
  readonly mayHaveArrived: boolean
  readonly transient: boolean
  /** Trying again soon can't help, much later may: a certificate that can't be trusted. */
  readonly lasting?: boolean | undefined
  /** Of an answer whose body did not arrive: its status, where it is the API's own as far as is known. */
  readonly headStatus: number | undefined
  /** And what else its head says. */
  readonly headHeaders?: HeaderList | undefined
}

export type AttemptFacts = AnswerFacts | FaultFacts

/** What was known before the attempt. */
export interface Before {
  /** Can it be sent again without doing it twice? True with a key that the server honours, or with an idempotent method. */
  readonly replayable: boolean
  /** May an earlier attempt have been done? */
  readonly earlierUnknown: boolean
}

export function effectOfFault(fault: FaultFacts): Effect {
  if (!fault.mayHaveArrived) return 'none'
  const status = fault.headStatus
  return status !== undefined && status >= 200 && status < 300 ? 'applied' : 'unknown'
}

/**
 * What this attempt alone may have done, if it is not a success: refused, nothing; a 5xx or a redirect, perhaps. An in-flight
 * answer says that another attempt is being done right now, so the whole is unknown.
 */
export function effectOfAnswer(answer: AnswerFacts, before: Before): Effect {
  if (isInFlight(answer, before)) return 'unknown'
  if (answer.mayBeRepeat) return 'unknown'
  if (!before.replayable && isTurnedAway(answer)) return 'none'
  return isRefusal(answer) ? 'none' : 'unknown'
}

/**
 * A 4xx of the server that was asked. Whoever gives a 408 or a 499 has stopped waiting, a time limit in front of a handler
 * say: the work may go on.
 */
export function isRefusal({ status, redirected }: AnswerFacts): boolean {
  return status >= 400 && status < 500 && !redirected && status !== 408 && status !== 499
}

/** A 503 of the server that was asked, which says when to come back: it did not begin. */
export function isTurnedAway(answer: AnswerFacts): boolean {
  return answer.status === 503 && !answer.redirected && namesRetryTime(answer)
}

/** A 409 that means "the first one is still being worked on", not "your version is stale". */
export function isInFlight(answer: AnswerFacts, { earlierUnknown }: Pick<Before, 'earlierUnknown'>): boolean {
  if (answer.status !== 409) return false
  const type = answer.problem?.type
  return type === PROBLEM.inFlight || type === PROBLEM.outcomeUnknown || namesRetryTime(answer) || earlierUnknown
}

export function namesRetryTime({ headers }: AnswerFacts): boolean {
  return headerValue(headers, 'retry-after') !== undefined
}

/**
 * Statuses that a gate in front of the operation gives (log-in, rate limit, proxy, dedup window), or that speak of another
 * attempt: they say that this attempt did nothing, but nothing about an earlier one.
 */
const GATE_STATUSES = new Set([401, 403, 405, 407, 409, 412, 413, 414, 421, 425, 429, 431, 451])

/**
 * Refusals of our own server half that come before it looks the key up, that were not compared with our own request, or that
 * speak of another attempt.
 */
const NO_PROOF: ReadonlySet<unknown> = new Set([
  PROBLEM.keyMissing,
  PROBLEM.keyMalformed,
  PROBLEM.keyReused,
  PROBLEM.inFlight,
  PROBLEM.outcomeUnknown,
])

const OUR_PROBLEMS: ReadonlySet<unknown> = new Set(Object.values(PROBLEM))

/** Of which operation an answer is, and how long ago it was accepted. */
export interface Asked {
  readonly key: string
  readonly ageMs: number
}

/**
 * Does a final answer also prove that no earlier attempt was done? Only a 4xx of a server that shows that it looks keys up, and
 * has not forgotten this one: such a server would have answered with the result of the earlier attempt. A router, a proxy or
 * an API that ignores keys says the same 4xx after the work was done.
 */
export function clearsEarlierAttempts(answer: AnswerFacts, { key, ageMs }: Asked): boolean {
  if (!isRefusal(answer)) return false
  if (isReplayed(answer.headers)) return true
  // What is for now says nothing of before.
  if (GATE_STATUSES.has(answer.status) || namesRetryTime(answer) || NO_PROOF.has(answer.problem?.type)) return false
  const windowMs = readRetention(answer.headers) ?? Number.POSITIVE_INFINITY
  return ageMs < windowMs && showsKeyKnown(answer, key)
}

/**
 * Does the answer show that its server knows idempotency keys: by a dedup window, a mark that the answer is a recorded one, a
 * problem of our own server half, or the key itself, which APIs that keep keys send back?
 */
export function showsKeyKnown({ headers, problem }: Pick<AnswerFacts, 'headers' | 'problem'>, key: string): boolean {
  if (isReplayed(headers) || readRetention(headers) !== undefined || OUR_PROBLEMS.has(problem?.type)) return true
  return parseKey(headerValue(headers, HEADER.idempotencyKey) ?? '') === key
}
