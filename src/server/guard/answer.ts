import { ConfigurationError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isRefusal, problemPage, type Refusal, reworded } from '../admission/refusal.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import { isReply, type Reply } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'
import { inAcceptedCoding } from './accepted-coding.ts'
import type { KeyRequest } from './claim-key.ts'
import { emit } from './events.ts'
import type { GuardOptions } from './guard-options.ts'

/** The return value of a user's function in plain values. A Response has to be read first, which takes a promise. */
export function answerOfReturned(returned: unknown, name: string): Answer | Promise<Answer> {
  if (isReply(returned)) return returned
  if (returned instanceof Response) return readResponse(returned)
  if (isThenable(returned)) return Promise.resolve(returned).then((value) => answerOfReturned(value, name))
  throw new ConfigurationError(
    `${name} must give its answer as json(value, init), reply(body, init) or a Response; it gave something else`,
    { effect: 'unknown' },
  )
}

async function readResponse(response: Response): Promise<Answer> {
  const body = response.body === null ? null : new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: [...response.headers], body }
}

type Retention = Pick<GuardOptions, 'retentionMs'>
type RefusalOptions = Pick<GuardOptions, 'refusal' | 'native' | 'documentation' | 'observe' | 'clock' | 'counters'>

/** Set by the ledger only: a handler's fields of these names are dropped. */
const LEDGER_HEADERS: readonly string[] = [
  HEADER.idempotencyRetention,
  HEADER.idempotencyReplayed,
  HEADER.idempotencyBody,
]

/** With the header that every answer has; a refusal also with its link, and in the words of the API. */
export function outgoingAnswer(guard: Retention & RefusalOptions, answer: Answer): Answer {
  const outgoing = isRefusal(answer) ? shapeRefusal(guard, answer) : answer
  return { ...outgoing, headers: [...handlerHeaders(outgoing.headers), retentionHeader(guard)] }
}

/** An answer from before the look-up of the key: it says nothing of keys, so that no client takes it for a proof. */
export function uninvolvedAnswer(answer: Answer): Answer {
  return { ...answer, headers: handlerHeaders(answer.headers) }
}

/** They describe the bytes of a body that is not sent. */
const BODY_HEADERS: readonly string[] = ['content-encoding', 'content-range', 'digest', 'content-digest']

/** A recorded answer for this request: marked as replayed, and as without its body if that was too large to store. */
export function replayedAnswer(
  guard: Retention & Pick<GuardOptions, 'decodeBody'>,
  stored: RecordedAnswer,
  { acceptEncoding }: Pick<KeyRequest, 'acceptEncoding'>,
): Answer {
  const recorded = inAcceptedCoding(guard, stored, acceptEncoding)
  const { status, body, bodyOmitted } = recorded
  const marks: HeaderList = [retentionHeader(guard), [HEADER.idempotencyReplayed, 'true']]
  const headers = handlerHeaders(recorded.headers)
  if (!bodyOmitted) return { status, headers: [...headers, ...marks], body }
  const others = headers.filter(([name]) => !BODY_HEADERS.includes(name))
  return { status, headers: [...others, ...marks, [HEADER.idempotencyBody, 'omitted']], body: null }
}

function handlerHeaders(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !LEDGER_HEADERS.includes(name))
}

function retentionHeader({ retentionMs }: Retention): readonly [string, string] {
  return [HEADER.idempotencyRetention, String(Math.floor(retentionMs / 1000))]
}

/** An error of the option `refusal` must not break the request. */
function shapeRefusal(guard: RefusalOptions, refused: Refusal): Answer {
  const linked = { ...refused, headers: [...refused.headers, ...linkHeader(guard, refused)] }
  try {
    const given = wordsOfApi(guard, refused)
    if (given) return reworded(linked, given)
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
  }
  return { status: linked.status, headers: linked.headers, body: linked.body }
}

function wordsOfApi({ refusal, native }: RefusalOptions, { problem }: Refusal): Reply | undefined {
  const given: unknown = refusal?.(problem, native)
  if (given === undefined || isReply(given)) return given
  throw new ConfigurationError('The option `refusal` must return json(value, init), reply(body, init) or undefined')
}

function linkHeader({ documentation }: RefusalOptions, { problem }: Refusal): HeaderList {
  return documentation === undefined ? [] : [['link', `<${problemPage(problem, documentation)}>; rel="describedby"`]]
}
