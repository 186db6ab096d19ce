import { type HeaderList, isEventStream } from '../../../protocol/headers.ts'
import { readProblem, readRefusal } from '../../../protocol/problem-details.ts'
import { isResponse, toResponse } from '../../../protocol/stored-message.ts'
import type { ClientOptions } from '../../options.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'
import type { TransportFault, TransportOutcome, TransportResponse } from '../../transport/port.ts'
import { discardRest } from './answer-rest.ts'
import { type AttemptTime, TIMED_OUT } from './attempt-time.ts'

/** How one attempt ended. */
export interface AttemptResult {
  readonly facts: AttemptFacts
  readonly response?: TransportResponse | undefined
  /** A short stable word where there was no usable answer. */
  readonly fault?: string | undefined
  readonly cause?: unknown
  /** Which hook of the caller's threw, or `refused`: this client may not send it. Not the network's fault, so never retried. */
  readonly hook?: 'headers' | 'accept' | 'refused' | undefined
}

/** An answer, but not of the API: the request may have been done. */
const NOT_THE_API = { is: 'fault', mayHaveArrived: true, transient: true, headStatus: undefined } as const

type Judged = AttemptResult | Promise<AttemptResult>

/** What a transport's outcome says of the attempt. */
export function judge(time: AttemptTime, outcome: TransportOutcome, accept: ClientOptions['accept']): Judged {
  if (outcome.kind === 'response') return judgeAnswer(time, outcome, accept)
  const head = headOf(outcome)
  if (!head) return faultResult(time.fault(outcome), accept)
  // Out of time, `accept` can't be asked.
  return judgeAnswer(time, head, time.signal.aborted ? undefined : accept)
}

function judgeAnswer(time: AttemptTime, answer: TransportResponse, accept: ClientOptions['accept']): Judged {
  // A redirect that a browser hides has no status to show.
  if (!accept || answer.status === 0) return redirectedToGet(answer) ?? answerResult(time, answer)
  const accepted = { ...answer, answersGet: false }
  return refusal(time, answer, accept).then((refused) => refused ?? answerResult(time, accepted))
}

/**
 * A page instead of the API: the log-in page of a session that is over, say. The request itself has arrived. The caller of
 * `client.fetch` gets the page, as fetch gives it.
 */
function redirectedToGet({ status, url, answersGet, rest }: TransportResponse): AttemptResult | undefined {
  if (!answersGet || status < 200 || status >= 300 || (rest && isResponse(rest))) return undefined
  discardRest(rest)
  const cause = new Error(`A redirect turned the request into a GET of ${url}; \`accept\` can take its answer`)
  return { facts: NOT_THE_API, fault: 'redirected-to-get', cause }
}

function answerResult(time: AttemptTime, answer: TransportResponse): AttemptResult {
  const { status, headers, redirected, answersGet, mayBeRepeat, body, rest } = answer
  const facts = {
    is: 'answer',
    status,
    headers,
    problem: status < 400 ? undefined : problemOf(status, headers, body),
    redirected,
    answersGet,
    mayBeRepeat,
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
  const facts = NOT_THE_API
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
  return { kind: 'response', ...head, statusText: '', body: null, url: '' }
}

export function faultResult(fault: TransportFault, accept?: ClientOptions['accept']): AttemptResult {
  const { mayHaveArrived, transient, lasting, code, cause } = fault
  const head = fault.head?.answersGet ? undefined : fault.head
  // A 2xx whose body was lost is one of the API only if `accept` says so, and it can't be asked without the body.
  const headStatus = accept ? undefined : head?.status
  const headHeaders = head?.headers
  return { facts: { is: 'fault', mayHaveArrived, transient, lasting, headStatus, headHeaders }, fault: code, cause }
}
