import { type AnswerRest, isResponse } from '../../protocol/stored-message.ts'

/** A shorter body is read to its end, so that its connection can serve the next attempt. */
const WORTH_READING = 65_536

/** No caller will read it: its connection is freed. Not waited for. */
export function discardRest(rest: AnswerRest | undefined): void {
  if (!rest) return
  if (isResponse(rest)) discardResponse(rest)
  else rest.cancel().catch(() => {})
}

function discardResponse(response: Response): void {
  const { body, bodyUsed, headers } = response
  if (!body || bodyUsed || body.locked) return
  const length = headers.get('content-length')
  const isShort = length !== null && Number(length) <= WORTH_READING
  Promise.resolve(isShort ? response.arrayBuffer() : body.cancel?.()).catch(() => {})
}

/** One answer for two callers. */
export function splitRest(rest: AnswerRest): readonly [AnswerRest, AnswerRest] {
  return isResponse(rest) ? [rest.clone(), rest] : rest.tee()
}

/** The same answer after its connection was freed; its head is still known. */
export function withoutRest<Answer extends { readonly rest?: AnswerRest | undefined }>(
  answer: Answer | undefined,
): Answer | undefined {
  if (!answer?.rest) return answer
  discardRest(answer.rest)
  return { ...answer, rest: undefined }
}
