import { redactError, redactUrl } from '../../observe/redact.ts'
import { isEventStream } from '../../protocol/event-stream.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { readProblem, readRefusal } from '../../protocol/problem-details.ts'
import { type AnswerRest, isResponse, toResponse } from '../../protocol/stored-message.ts'
import type { OperationRecord } from '../operation/record.ts'
import type { ClientOptions } from '../options.ts'
import type { AttemptFacts } from '../policy/classify.ts'
import { mayStart } from '../policy/decide.ts'
import type { ResolvedCall, ResolvedOptions } from '../policy/resolved-options.ts'
import type {
  DropIn,
  TransportFault,
  TransportOutcome,
  TransportRequest,
  TransportResponse,
} from '../transport/port.ts'
import { discardRest } from './answer-rest.ts'
import { type AttemptTerms, attemptHeaders, clientHeaders, trustsOrigin } from './attempt-headers.ts'
import { AttemptTime, TIMED_OUT, type TimeLimits } from './attempt-time.ts'
import { boundBody } from './bound-body.ts'
import { missingCredentials } from './credentials.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

export interface AttemptLimits extends TimeLimits {
  readonly call: ResolvedCall
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly dropIn: DropIn | undefined
  /** Told of the client's headers just before the first byte leaves. False: the lease is lost, and nothing may. */
  readonly beforeSending: (own: HeaderList) => boolean | Promise<boolean>
}

/** Where a redirect may take the request. */
type Trust = TransportRequest['trusts']

/** A call of `client.fetch` with neither a key nor headers of the client's own goes where fetch takes it. */
const ANYWHERE: Trust = () => true

/** How one attempt ended. */
export interface AttemptResult {
  readonly facts: AttemptFacts
  readonly response?: TransportResponse | undefined
  /** A short stable word where there was no usable answer. */
  readonly fault?: string | undefined
  readonly cause?: unknown
  /** A hook of the caller's threw: which one. Not the network's fault, so never retried. */
  readonly hook?: 'headers' | 'accept' | undefined
}

/** One attempt: headers made afresh, sent, answered or not, within its own time. Never rejects. */
export async function attempt(
  engine: EngineContext,
  operation: LiveOperation,
  { terms, limits }: { readonly terms: AttemptTerms; readonly limits: AttemptLimits },
): Promise<AttemptResult> {
  const time = new AttemptTime(engine, operation, limits)
  try {
    const made = makeHeaders(engine, operation, { terms, time })
    const own = made instanceof Promise ? await made : made
    if (own instanceof HookFailure) return hookResult(own.cause)
    if (own === TIMED_OUT) return faultResult(time.fault(notSent()))
    const missing = missingCredentials(operation.record.request, { own, call: terms.credentials })
    if (missing.length > 0) return credentialsMissing(missing)
    const noted = limits.beforeSending(own)
    if (!(noted instanceof Promise ? await noted : noted)) return faultResult({ ...notSent(), code: 'lease-lost' })
    if (time.signal.aborted) return faultResult(time.fault(notSent()))
    // Making the headers may have taken long: no attempt starts after the deadline or the horizon.
    const late = mayStart({
      now: engine.clock.now(),
      deadlineAt: limits.deadlineAt,
      horizonAt: operation.record.horizonAt,
    })
    if (late !== 'yes') return faultResult({ ...notSent(), code: late })
    // Frozen while the headers were made: somebody else may have the operation by now. The next write finds out.
    if (engine.leases.hasLapsed(operation)) return faultResult({ ...notSent(), code: 'lease-lapsed' })
    const { record } = operation
    const outcome = await time.outcome(
      engine.transport.send({
        method: record.request.method,
        url: terms.credentials?.url ?? record.request.url,
        headers: attemptHeaders(engine.options, record, { own, terms }),
        body: record.request.body,
        signal: time.signal,
        bodyLimit: engine.options.maxResponseBytes,
        boundBody: boundBody(engine.clock, limits.call.retry.statuses),
        redirect: limits.redirect,
        credentialsMode: record.request.credentialsMode,
        publicHeaders: record.request.headers,
        guardsHeaders: own.length > 0,
        trusts: limits.dropIn && !limits.dropIn.keyed && own.length === 0 ? ANYWHERE : trustOf(engine.options, record),
        dropIn: limits.dropIn,
      }),
    )
    const result = await judge(time, outcome, limits.call.accept)
    if (result.response?.rest) handOver(time, result.response.rest, { operation, dropIn: limits.dropIn })
    return result
  } finally {
    time.end()
  }
}

function trustOf(options: ResolvedOptions, { request }: OperationRecord): Trust {
  return (origin) => origin === request.origin || trustsOrigin(options, origin)
}

/** Where several callers share the answer, the abort of one must not end it for the others. */
function handOver(
  time: AttemptTime,
  rest: AnswerRest,
  { operation, dropIn }: { readonly operation: LiveOperation; readonly dropIn: DropIn | undefined },
): void {
  if (dropIn?.endedBy !== 'attempt' || !isResponse(rest)) return
  time.handOver(rest, operation.callers > 1 ? undefined : dropIn.signal)
}

class HookFailure {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}
type Made = HeaderList | typeof TIMED_OUT | HookFailure

/** The client's headers for this attempt, or how their function failed. */
function makeHeaders(
  engine: EngineContext,
  operation: LiveOperation,
  { terms, time }: { readonly terms: AttemptTerms; readonly time: AttemptTime },
): Made | Promise<Made> {
  try {
    const made = clientHeaders(engine.options, operation.record, terms)
    if (!(made instanceof Promise)) return made
    return time.bound(made).catch((cause: unknown) => new HookFailure(cause))
  } catch (cause) {
    return new HookFailure(cause)
  }
}

function hookResult(cause: unknown): AttemptResult {
  const facts = { ...NOT_SENT, transient: false }
  return { facts, fault: 'headers-hook', cause: redactError(cause), hook: 'headers' }
}

const NOT_SENT = { is: 'fault', mayHaveArrived: false, transient: true, headStatus: undefined } as const

function notSent(): TransportFault {
  return { kind: 'fault', code: 'aborted', mayHaveArrived: false, transient: true, cause: undefined }
}

async function judge(
  time: AttemptTime,
  outcome: TransportOutcome,
  accept: ClientOptions['accept'],
): Promise<AttemptResult> {
  if (outcome.kind === 'response') return judgeAnswer(time, showable(outcome), accept)
  const head = headOf(outcome)
  // In no time `accept` can't be asked.
  return head ? judgeAnswer(time, head, time.signal.aborted ? undefined : accept) : faultResult(time.fault(outcome))
}

/** Who reads it later need not be who called: no secret stays in its URL. */
function showable(answer: TransportResponse): TransportResponse {
  return answer.url.includes('?') ? { ...answer, url: redactUrl(answer.url) } : answer
}

async function judgeAnswer(
  time: AttemptTime,
  outcome: TransportResponse,
  accept: ClientOptions['accept'],
): Promise<AttemptResult> {
  const { status, headers } = outcome
  // A redirect that a browser hides has no status to show.
  if (accept && status > 0) {
    const refused = await refusal(time, outcome, accept)
    if (refused) return refused
  }
  const { redirected, body } = outcome
  // Servers of other make say in plain JSON that a key was used for something else.
  const problem = status === 422 ? readRefusal(headers, body) : readProblem(headers, body)
  const response = { ...outcome, rest: watched(time, outcome) }
  return { facts: { is: 'answer', status, headers, problem, redirected }, response }
}

function watched(time: AttemptTime, { rest, headers }: TransportResponse): AnswerRest | undefined {
  if (!rest || isResponse(rest)) return rest
  return isEventStream(headers) ? time.watchEvents(rest) : time.watch(rest)
}

/** An answer that the caller's own check refuses is not the API speaking: as good as no answer. */
async function refusal(
  time: AttemptTime,
  outcome: TransportResponse,
  accept: NonNullable<ClientOptions['accept']>,
): Promise<AttemptResult | undefined> {
  const facts = { is: 'fault', mayHaveArrived: true, transient: true, headStatus: undefined } as const
  const shown = showTo(outcome)
  try {
    const accepted = await time.bound(Promise.resolve(accept(shown)))
    if (accepted === true) return undefined
    discardRest(outcome.rest)
    return { facts, fault: accepted === TIMED_OUT ? time.timeoutName : 'not-accepted' }
  } catch (cause) {
    discardRest(outcome.rest)
    return { facts: { ...facts, transient: false }, fault: 'accept-hook', cause, hook: 'accept' }
  } finally {
    if (outcome.rest) discardRest(shown)
  }
}

/** For the caller's own check. The answer itself stays unread: it is the caller's. */
function showTo(outcome: TransportResponse): Response {
  const { rest } = outcome
  return rest && isResponse(rest) ? rest.clone() : toResponse({ ...outcome, bodyOmitted: false })
}

/** What is not a success speaks by its head alone; that its body was lost changes nothing. */
function headOf({ head }: TransportFault): TransportResponse | undefined {
  if (!head || (head.status >= 200 && head.status < 300)) return undefined
  return { kind: 'response', ...head, statusText: '', body: null, url: '', redirected: false }
}

function faultResult(fault: TransportFault): AttemptResult {
  const { mayHaveArrived, transient, lasting, code } = fault
  const facts = { is: 'fault', mayHaveArrived, transient, lasting, headStatus: fault.head?.status } as const
  return { facts, fault: code, cause: redactError(fault.cause) }
}

/** Told like headers that could not be made: nothing was sent, and another attempt would not mend it. */
function credentialsMissing(names: readonly string[]): AttemptResult {
  const cause = new Error(
    `It was called with credentials (${names.join(', ')}), which are never written down, and would go out without them: resume it with a client whose headers make them, or call again with its id or key, and with them`,
  )
  return { facts: { ...NOT_SENT, transient: false }, fault: 'credentials-missing', cause, hook: 'headers' }
}
