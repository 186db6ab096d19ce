import { ConfigurationError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { keptHeaders } from '../admission/kept-headers.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import { isReply } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'

interface KeepPolicy {
  readonly maxResponseBytes: number
  readonly dropHeaders: ReadonlySet<string>
}

/** What is kept of an answer. A body that is too large stays away, and the entry says so. */
export function recordedAnswer(answer: Answer, policy: KeepPolicy): RecordedAnswer {
  const bodyOmitted = 'unheld' in answer || (answer.body?.length ?? 0) > policy.maxResponseBytes
  const { status } = answer
  const headers = keptHeaders(answer.headers, policy.dropHeaders)
  return { status, headers, body: bodyOmitted || !answer.body?.length ? null : answer.body, bodyOmitted }
}

/** A handler's or an effect's return value as plain values. A Response has to be read first, which takes a promise. */
export function plainAnswer(returned: unknown, whose: string): Answer | Promise<Answer> {
  if (isReply(returned)) return returned
  if (returned instanceof Response) return readResponse(returned)
  if (isThenable(returned)) return Promise.resolve(returned).then((value) => plainAnswer(value, whose))
  throw new ConfigurationError(
    `${whose} must give its answer as json(value, init), reply(body, init) or a Response; it gave something else`,
    { effect: 'unknown' },
  )
}

async function readResponse(response: Response): Promise<Answer> {
  const body = response.body === null ? null : new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: [...response.headers], body }
}
