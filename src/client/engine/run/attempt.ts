import { redactError, redactUrl } from '../../../observe/redact.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { isEventStream } from '../../../protocol/headers.ts'
import { readProblem, readRefusal } from '../../../protocol/problem-details.ts'
import { type AnswerRest, isResponse, toResponse } from '../../../protocol/stored-message.ts'
import type { ClientOptions } from '../../options.ts'
import { mayStart } from '../../policy/decide.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'
import type { TransportFault, TransportOutcome, TransportRequest, TransportResponse } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { discardRest } from './answer-rest.ts'
import { attemptHeaders, clientHeaders, type HeaderParts, missingCredentials, trustsOrigin } from './attempt-headers.ts'
import { AttemptTime, TIMED_OUT } from './attempt-time.ts'
import type { LiveOperation } from './live-operation.ts'

/** Of which run an attempt is. */
interface AttemptOf {
  readonly engine: Engine
  readonly operation: LiveOperation
  readonly call: Call
}

export interface AttemptTerms extends HeaderParts {
  /** Called with the client's headers just before the first byte leaves. False: the lease is lost, and none may. */
  readonly beforeSending: (own: HeaderList) => boolean | Promise<boolean>
}

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
export async function attempt(run: AttemptOf, terms: AttemptTerms): Promise<AttemptResult> {
  const { engine, operation, call } = run
  const time = new AttemptTime(engine.clock, operation, { call, startedAt: terms.startedAt })
  try {
    const made = engine.options.headers === undefined ? NO_HEADERS : makeHeaders(run, terms, time)
    const own = made instanceof Promise ? await made : made
    if (own instanceof HookFailure) return hookResult(own.cause)
    if (own === TIMED_OUT) return faultResult(time.fault(notSent()))
    const { withheld } = operation.record.request
    const missing = call.credentials ? [] : missingCredentials(withheld, own)
    if (missing.length > 0) return credentialsMissing(missing)
    const saved = terms.beforeSending(own)
    if (!(saved instanceof Promise ? await saved : saved)) return faultResult(notSent('lease-lost'))
    if (time.signal.aborted) return faultResult(time.fault(notSent()))
    if (made instanceof Promise || saved instanceof Promise) {
      // Making the headers may have taken long: no attempt starts after the deadline or the horizon.
      const { deadlineAt } = call
      const late = mayStart({ now: engine.clock.now(), deadlineAt, horizonAt: operation.record.horizonAt })
      if (late !== 'yes') return faultResult(notSent(late))
      // Frozen while the headers were made: another runner may have the operation by now. The next write finds out.
      if (engine.leases.hasLapsed(operation)) return faultResult(notSent('lease-lapsed'))
    }
    operation.isTried = true
    const transport = call.trace?.attempt(engine.transport, operation.record, terms.number) ?? engine.transport
    const outcome = await time.outcome(transport.send(requestOf(run, terms, { own, time })))
    const judged = judge(time, outcome, call.limits.accept)
    const result = judged instanceof Promise ? await judged : judged
    if (result.response?.rest) handOver(time, result.response.rest, run)
    return result
  } finally {
    time.end()
  }
}

/** A call of `client.fetch` with neither a key nor headers of the client's own goes where fetch takes it. */
const ANYWHERE: TransportRequest['trusts'] = () => true

function requestOf(
  { engine, operation, call }: AttemptOf,
  terms: AttemptTerms,
  { own, time }: { readonly own: HeaderList; readonly time: AttemptTime },
): TransportRequest {
  const { options } = engine
  const { request } = operation.record
  const { dropIn } = call
  const goesAnywhere = dropIn && !dropIn.keyed && own.length === 0
  return {
    method: request.method,
    url: call.credentials?.url ?? request.url,
    headers: attemptHeaders(options, terms, own),
    body: request.body,
    signal: time.signal,
    bodyLimit: options.maxResponseBytes,
    boundBody: time.boundBody,
    redirect: call.redirect,
    credentialsMode: request.credentialsMode,
    publicHeaders: request.headers,
    guardsHeaders: own.length > 0,
    trusts: goesAnywhere ? ANYWHERE : (origin) => origin === request.origin || trustsOrigin(options, origin),
    dropIn,
  }
}

/** Where several callers share the answer, the abort of one must not end it for the others. */
function handOver(time: AttemptTime, rest: AnswerRest, { operation, call }: AttemptOf): void {
  const { dropIn } = call
  if (dropIn?.endedBy !== 'attempt' || !isResponse(rest)) return
  time.handOver(rest, operation.callers > 1 ? undefined : dropIn.signal)
}

const NO_HEADERS: HeaderList = []

class HookFailure {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}
type Made = HeaderList | typeof TIMED_OUT | HookFailure

/** The client's headers for this attempt, or how their function failed. */
function makeHeaders(run: AttemptOf, terms: AttemptTerms, time: AttemptTime): Made | Promise<Made> {
  const { engine } = run
  try {
    const made = clientHeaders(engine.options, terms)
    if (!(made instanceof Promise)) return made
    return time.bound(made).catch((cause: unknown) => new HookFailure(cause))
  } catch (cause) {
    return new HookFailure(cause)
  }
}

const NOT_SENT = { is: 'fault', mayHaveArrived: false, transient: true, headStatus: undefined } as const

function notSent(code = 'aborted'): TransportFault {
  return { kind: 'fault', code, mayHaveArrived: false, transient: true, cause: undefined }
}

function hookResult(cause: unknown): AttemptResult {
  const facts = { ...NOT_SENT, transient: false }
  return { facts, fault: 'headers-hook', cause: redactError(cause), hook: 'headers' }
}

/** As headers that could not be made: nothing was sent, and another attempt would not mend it. */
function credentialsMissing(names: readonly string[]): AttemptResult {
  const cause = new Error(
    `It was called with credentials (${names.join(', ')}), which are never written down, and would go out without them: resume it with a client whose headers make them, or call again with its id or key, and with them`,
  )
  return { facts: { ...NOT_SENT, transient: false }, fault: 'credentials-missing', cause, hook: 'headers' }
}

type Judged = AttemptResult | Promise<AttemptResult>

function judge(time: AttemptTime, outcome: TransportOutcome, accept: ClientOptions['accept']): Judged {
  if (outcome.kind === 'response') {
    // Another process may read it later: no secret stays in its URL.
    const { url } = outcome
    return judgeAnswer(time, url.includes('?') ? { ...outcome, url: redactUrl(url) } : outcome, accept)
  }
  const head = headOf(outcome)
  if (!head) return faultResult(time.fault(outcome))
  // Out of time, `accept` can't be asked.
  return judgeAnswer(time, head, time.signal.aborted ? undefined : accept)
}

function judgeAnswer(time: AttemptTime, answer: TransportResponse, accept: ClientOptions['accept']): Judged {
  // A redirect that a browser hides has no status to show.
  if (!accept || answer.status === 0) return answerResult(time, answer)
  return refusal(time, answer, accept).then((refused) => refused ?? answerResult(time, answer))
}

function answerResult(time: AttemptTime, answer: TransportResponse): AttemptResult {
  const { status, headers, redirected, body, rest } = answer
  const facts = {
    is: 'answer',
    status,
    headers,
    problem: status < 400 ? undefined : problemOf(status, headers, body),
    redirected,
  } as const
  if (!rest || isResponse(rest)) return { facts, response: answer }
  const watched = isEventStream(headers) ? time.watchEvents(rest) : time.watch(rest)
  return { facts, response: { ...answer, rest: watched } }
}

function problemOf(status: number, headers: HeaderList, body: Uint8Array | null): ReturnType<typeof readProblem> {
  // Servers of other make say in plain JSON that a key was used for a different request.
  return status === 422 ? readRefusal(headers, body) : readProblem(headers, body)
}

/** An answer that the caller's own check refuses is not the API speaking: as good as no answer. */
async function refusal(
  time: AttemptTime,
  answer: TransportResponse,
  accept: NonNullable<ClientOptions['accept']>,
): Promise<AttemptResult | undefined> {
  const facts = { is: 'fault', mayHaveArrived: true, transient: true, headStatus: undefined } as const
  const shown = showTo(answer)
  try {
    const accepted = await time.bound(Promise.resolve(accept(shown)))
    if (accepted === true) return undefined
    discardRest(answer.rest)
    return { facts, fault: accepted === TIMED_OUT ? time.timeoutName : 'not-accepted' }
  } catch (cause) {
    discardRest(answer.rest)
    return { facts: { ...facts, transient: false }, fault: 'accept-hook', cause, hook: 'accept' }
  } finally {
    if (answer.rest) discardRest(shown)
  }
}

/** For the caller's own check. The answer itself stays unread: it is the caller's. */
function showTo(answer: TransportResponse): Response {
  const { rest } = answer
  return rest && isResponse(rest) ? rest.clone() : toResponse({ ...answer, bodyOmitted: false })
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
