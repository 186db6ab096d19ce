import { settlesInTurn } from '../../../foundation/wait.ts'
import type { Redactor } from '../../../observe/redact.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { type AnswerRest, isResponse } from '../../../protocol/stored-message.ts'
import { mayStart } from '../../policy/decide.ts'
import type { TransportFault, TransportOutcome, TransportRequest } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import {
  attemptHeaders,
  clientHeaders,
  type HeaderParts,
  maySendTo,
  missingCredentials,
  trustsOrigin,
} from './attempt-headers.ts'
import { AttemptTime, TIMED_OUT } from './attempt-time.ts'
import { type AttemptResult, faultResult, judge } from './judge.ts'
import type { LiveOperation } from './live-operation.ts'
import { credentialsMissing, foreignOrigin } from './refusal-to-send.ts'

/** Of which run an attempt is. */
interface AttemptOf {
  readonly engine: Engine
  readonly operation: LiveOperation
  readonly call: Call
}

export interface AttemptTerms extends HeaderParts {
  /** Called just before the first byte leaves. False: the lease is lost, and none may. */
  readonly beforeSending: (made: MadeHeaders) => boolean | Promise<boolean>
}

/** The client's own headers, and whether the attempt had to wait for them. */
export interface MadeHeaders {
  readonly own: HeaderList
  readonly hasWaited: boolean
}

/** One attempt: headers made afresh, sent, answered or not, within its own time. Never rejects. */
export async function attempt(run: AttemptOf, terms: AttemptTerms): Promise<AttemptResult> {
  const { engine, operation, call } = run
  const { origin } = operation.record.request
  const onStream = (): (() => void) => engine.gates.of(origin).read()
  const time = new AttemptTime(engine.clock, operation, { call, onStream })
  try {
    // Who calls says where to; an operation that is only named may be for an origin that is none of this client's.
    const { withheld } = operation.record.request
    if (!call.credentials && !maySendTo(engine.options, origin))
      return refusedResult('origin-not-trusted', foreignOrigin(origin))
    const made = engine.options.headers === undefined ? NO_HEADERS : makeHeaders(run, terms, time)
    const hasWaited = made instanceof Promise && !(await settlesInTurn(made))
    const own = made instanceof Promise ? await made : made
    if (own instanceof HookFailure) return hookResult(engine.options.redactor.error(own.cause))
    if (own === TIMED_OUT) return faultResult(time.fault(notSent()))
    const missing = call.credentials ? [] : missingCredentials(withheld, own)
    if (missing.length > 0) return refusedResult('credentials-missing', credentialsMissing(missing))
    const saved = terms.beforeSending({ own, hasWaited })
    if (!(saved instanceof Promise ? await saved : saved)) return faultResult(notSent('lease-lost'))
    if (time.signal.aborted) return faultResult(time.fault(notSent()))
    if (made instanceof Promise || saved instanceof Promise) {
      // Making the headers may have taken long: no attempt starts after the deadline or the horizon.
      const deadlineAt = call.deadline.at
      const late = mayStart({ now: engine.clock.now(), deadlineAt, horizonAt: operation.record.horizonAt })
      if (late !== 'yes') return faultResult(notSent(late))
      // Frozen while the headers were made: another runner may have the operation by now. The next write finds out.
      if (engine.leases.hasLapsed(operation)) return faultResult(notSent('lease-lapsed'))
    }
    // Asked last: whoever logs in from here on was not logged in when the request left.
    const { session } = operation.record
    const refusal = session === undefined ? undefined : engine.session.refusal(operation.record)
    if (refusal !== undefined) return refusedResult('other-session', engine.options.redactor.error(refusal))
    operation.isTried = true
    const transport = call.trace?.attempt(engine.transport, operation.record, terms.number) ?? engine.transport
    const outcome = await time.outcome(transport.send(requestOf(run, terms, { own, time })))
    const judged = judge(time, withoutSecrets(outcome, engine.options.redactor), call.limits.accept)
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
    clientHeaders: own,
    isRepeated: terms.number > 1,
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
  return { facts, fault: 'headers-hook', cause, hook: 'headers' }
}

/** Nothing was sent, and another attempt of this client would not mend it; another client may send it. */
function refusedResult(fault: string, cause: unknown): AttemptResult {
  return { facts: { ...NOT_SENT, transient: false }, fault, cause, hook: 'refused' }
}

/** Another process may read it later: no secret stays in the URL of an answer, nor in the words of a fault. */
function withoutSecrets(outcome: TransportOutcome, redactor: Redactor): TransportOutcome {
  if (outcome.kind === 'fault') return { ...outcome, cause: redactor.error(outcome.cause) }
  return outcome.url.includes('?') ? { ...outcome, url: redactor.url(outcome.url) } : outcome
}
