import type { Effect, Reason } from '../../errors/reason.ts'
import { isReplayed } from '../../protocol/header-names.ts'
import { PROBLEM } from '../../protocol/problem-details.ts'
import { readRetryVerdict } from '../../protocol/retry-verdict.ts'
import { serverDelayMs } from '../../protocol/server-timing.ts'
import {
  type AnswerFacts,
  type AttemptFacts,
  type Before,
  effectOfAnswer,
  effectOfFault,
  type FaultFacts,
  isInFlight,
  isRefusal,
  isTurnedAway,
  namesRetryTime,
} from './evidence.ts'
import type { ResolvedDoNotRetry } from './resolved-options.ts'

export interface Circumstances extends Before {
  readonly now: number
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

function classifyFault(fault: FaultFacts, { replayable, override, doNotRetry }: Circumstances): Verdict {
  const effect = effectOfFault(fault)
  // The head has said it, whatever became of the body.
  if (fault.headHeaders && readRetryVerdict(fault.headHeaders, doNotRetry) === 'stop')
    return { is: 'final', reason: 'do-not-retry', effect, settles: 'rejected' }
  if (fault.lasting && !override) return { is: 'halt', reason: 'network', effect }
  if (!(override ?? fault.transient)) return { is: 'final', reason: 'network', effect, settles: 'failed' }
  if (!replayable && fault.mayHaveArrived) return { is: 'final', reason: 'not-replayable', effect, settles: 'failed' }
  return { is: 'retry', reason: 'network', effect, floorMs: undefined }
}

function classifyAnswer(answer: AnswerFacts, circumstances: Circumstances): Verdict {
  const { status, headers } = answer
  if (isSuccess(answer)) return { is: 'success', effect: 'applied' }
  const effect = effectOfAnswer(answer, circumstances)
  const said = readRetryVerdict(headers, circumstances.doNotRetry)
  // Whoever says so of a 5xx may have begun.
  if (said === 'stop')
    return { is: 'final', reason: 'do-not-retry', effect: status < 500 ? effect : 'unknown', settles: 'rejected' }
  if (isKeyReuse(answer)) return { is: 'final', reason: 'key-reuse', effect, settles: 'rejected' }
  const maySendAgain = circumstances.replayable || effect === 'none'
  if (!shouldRetry(answer, circumstances, said)) {
    return status === 401
      ? { is: 'unauthorized', effect, refresh: maySendAgain && circumstances.override !== false }
      : { is: 'final', reason: 'status', effect, settles: 'rejected' }
  }
  if (circumstances.replayable || (effect === 'none' && isCertainlyUndone(answer, circumstances))) {
    return { is: 'retry', reason: 'status', effect, floorMs: serverDelayMs(headers, circumstances.now) }
  }
  return effect === 'none'
    ? { is: 'final', reason: 'status', effect, settles: 'rejected' }
    : { is: 'final', reason: 'not-replayable', effect, settles: 'failed' }
}

function isSuccess({ status, answersGet }: AnswerFacts): boolean {
  return status >= 200 && status < 300 && !answersGet
}

/** May it be sent again to a server that does not know its key? If the server turned it away, or the caller's rule says so of a refusal. */
function isCertainlyUndone(answer: AnswerFacts, { override }: Circumstances): boolean {
  return isTurnedAway(answer) || (isRefusal(answer) && (answer.status === 429 || override === true))
}

function shouldRetry(answer: AnswerFacts, circumstances: Circumstances, said: 'retry' | undefined): boolean {
  if (circumstances.override !== undefined) return circumstances.override
  // A failure that is replayed from the server's record is final.
  if (isReplayed(answer.headers)) return false
  if (said === 'retry' || circumstances.statuses.has(answer.status)) return true
  return isInFlight(answer, circumstances) || (answer.status === 413 && namesRetryTime(answer))
}

/** Words by which servers say that a key came back with another request. */
const KEY_REUSE_CODES = new Set(['request_signature_mismatch', 'idempotency_error', 'idempotency_key_reused'])

function isKeyReuse({ status, problem }: AnswerFacts): boolean {
  if (status !== 422 || !problem) return false
  return problem.type === PROBLEM.keyReused || KEY_REUSE_CODES.has(String(problem.code ?? problem.error))
}
