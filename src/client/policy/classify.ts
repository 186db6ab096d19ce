import type { Effect, Reason } from '../../errors/reason.ts'
import { isReplayed } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { headerValue } from '../../protocol/headers.ts'
import { PROBLEM, type ProblemDetails } from '../../protocol/problem-details.ts'
import { readRetryVerdict } from '../../protocol/retry-verdict.ts'
import { serverDelayMs } from '../../protocol/server-timing.ts'
import type { ResolvedDoNotRetry } from './resolved-options.ts'

/** An answer that was accepted as the API's own. */
export interface AnswerFacts {
  readonly is: 'answer'
  readonly status: number
  readonly headers: HeaderList
  readonly problem: ProblemDetails | undefined
  /** Did it come from somewhere else than was asked? Then what was asked may have been done before it was sent on. */
  readonly redirected: boolean
}

/** No usable answer: the network failed, the attempt timed out, or the answer was not the API speaking. */
export interface FaultFacts {
  readonly is: 'fault'
  readonly mayHaveArrived: boolean
  readonly transient: boolean
  /** Trying again soon can't help, much later may: a certificate that can't be trusted. */
  readonly lasting?: boolean | undefined
  /** The head of an answer whose body did not arrive. */
  readonly headStatus: number | undefined
}

export type AttemptFacts = AnswerFacts | FaultFacts

export interface Circumstances {
  readonly now: number
  /** Can it be sent again without doing it twice? True with a key that the server honours, or with an idempotent method. */
  readonly replayable: boolean
  /** May an earlier attempt have been done? */
  readonly earlierUnknown: boolean
  readonly statuses: ReadonlySet<number>
  readonly doNotRetry: ResolvedDoNotRetry
  /** What the caller's own rule says; undefined leaves it to ours. */
  readonly override: boolean | undefined
}

/** What an attempt means. `effect` is what this attempt alone may have done. */
export type Verdict =
  | { readonly is: 'success'; readonly effect: 'applied' }
  /** `refresh`: may it be sent once more with freshly made headers? */
  | { readonly is: 'unauthorized'; readonly effect: Effect; readonly refresh: boolean }
  /** This run ends; a kept or resumed operation goes on in a later run. */
  | { readonly is: 'halt'; readonly reason: 'network'; readonly effect: Effect }
  | { readonly is: 'final'; readonly reason: Reason; readonly effect: Effect; readonly settles: 'rejected' | 'failed' }
  | {
      readonly is: 'retry'
      readonly reason: 'status' | 'network'
      readonly effect: Effect
      readonly floorMs: number | undefined
    }

export function classify(facts: AttemptFacts, circumstances: Circumstances): Verdict {
  return facts.is === 'fault' ? classifyFault(facts, circumstances) : classifyAnswer(facts, circumstances)
}

/** A failure as hard on its server as one that is tried again, also where this server gets nothing a second time. */
export function isRetryable(facts: AttemptFacts, circumstances: Circumstances): boolean {
  return classify(facts, { ...circumstances, replayable: true }).is === 'retry'
}

function classifyFault(fault: FaultFacts, { replayable, override }: Circumstances): Verdict {
  const effect = effectOfFault(fault)
  if (fault.lasting && !override) return { is: 'halt', reason: 'network', effect }
  if (!(override ?? fault.transient)) return { is: 'final', reason: 'network', effect, settles: 'failed' }
  if (!replayable && fault.mayHaveArrived) return { is: 'final', reason: 'not-replayable', effect, settles: 'failed' }
  return { is: 'retry', reason: 'network', effect, floorMs: undefined }
}

function effectOfFault(fault: FaultFacts): Effect {
  if (!fault.mayHaveArrived) return 'none'
  const status = fault.headStatus
  return status !== undefined && status >= 200 && status < 300 ? 'applied' : 'unknown'
}

function classifyAnswer(answer: AnswerFacts, circumstances: Circumstances): Verdict {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { is: 'success', effect: 'applied' }
  const effect = effectOfAnswer(answer, circumstances)
  const said = readRetryVerdict(headers, circumstances.doNotRetry)
  if (said === 'stop') return { is: 'final', reason: 'do-not-retry', effect, settles: 'rejected' }
  if (isKeyReuse(answer)) return { is: 'final', reason: 'key-reuse', effect: 'none', settles: 'rejected' }
  if (!shouldRetry(answer, circumstances, said)) {
    return status === 401
      ? { is: 'unauthorized', effect, refresh: circumstances.override !== false }
      : { is: 'final', reason: 'status', effect, settles: 'rejected' }
  }
  if (circumstances.replayable || isCertainlyUndone(answer, circumstances)) {
    return { is: 'retry', reason: 'status', effect, floorMs: serverDelayMs(headers, circumstances.now) }
  }
  return effect === 'none'
    ? { is: 'final', reason: 'status', effect, settles: 'rejected' }
    : { is: 'final', reason: 'not-replayable', effect, settles: 'failed' }
}

/** May it be sent again to a server that does not know its key? Where the server turned it away, or the caller's rule says so of a 4xx. */
function isCertainlyUndone(answer: AnswerFacts, { override }: Circumstances): boolean {
  const refused = answer.status >= 400 && answer.status < 500 && !answer.redirected
  return answer.status === 429 || isTurnedAway(answer) || (override === true && refused)
}

function shouldRetry(answer: AnswerFacts, circumstances: Circumstances, said: 'retry' | undefined): boolean {
  if (circumstances.override !== undefined) return circumstances.override
  // A failure that is replayed from the server's record is final.
  if (isReplayed(answer.headers)) return false
  if (said === 'retry' || circumstances.statuses.has(answer.status)) return true
  return isInFlight(answer, circumstances) || (answer.status === 413 && namesRetryTime(answer))
}

/** A 409 that means "the first one is still being worked on", not "your version is stale". */
function isInFlight(answer: AnswerFacts, { earlierUnknown }: Circumstances): boolean {
  if (answer.status !== 409) return false
  return answer.problem?.type === PROBLEM.inFlight || namesRetryTime(answer) || earlierUnknown
}

function namesRetryTime({ headers }: AnswerFacts): boolean {
  return headerValue(headers, 'retry-after') !== undefined
}

/** Words by which servers say that a key came back with another request. */
const KEY_REUSE_CODES = new Set(['request_signature_mismatch', 'idempotency_error', 'idempotency_key_reused'])

function isKeyReuse({ status, problem }: AnswerFacts): boolean {
  if (status !== 422 || !problem) return false
  return problem.type === PROBLEM.keyReused || KEY_REUSE_CODES.has(String(problem.code ?? problem.error))
}

/**
 * Statuses that a gate in front of the operation gives (log-in, rate limit, proxy, dedup window): they say
 * that this attempt did nothing, but nothing about an earlier one.
 */
const GATE_STATUSES = new Set([401, 403, 405, 407, 408, 412, 413, 414, 421, 425, 429, 431, 451])

/**
 * What this attempt alone may have done: a 4xx, nothing; a 5xx or a redirect, perhaps. An in-flight answer
 * says that another attempt is being done right now, so the whole is unknown.
 */
function effectOfAnswer(answer: AnswerFacts, circumstances: Circumstances): Effect {
  if (isInFlight(answer, circumstances)) return 'unknown'
  if (!circumstances.replayable && isTurnedAway(answer)) return 'none'
  return answer.status >= 400 && answer.status < 500 && !answer.redirected ? 'none' : 'unknown'
}

/** A 503 that says when to come back is a server that did not begin. */
function isTurnedAway(answer: AnswerFacts): boolean {
  return answer.status === 503 && namesRetryTime(answer)
}

/** Does a final 4xx also clear up what an earlier, unanswered attempt did? Then the whole operation had no effect. */
export function speaksForTheWhole(answer: Pick<AnswerFacts, 'status' | 'headers' | 'redirected'>): boolean {
  const { status, headers, redirected } = answer
  if (status < 400 || status >= 500 || redirected) return false
  return isReplayed(headers) || !GATE_STATUSES.has(status)
}
