import { joinChunks } from '../../../foundation/join-chunks.ts'
import { isEventStream } from '../../../protocol/event-stream.ts'
import { isBodiless, readableHeaders } from '../../../protocol/stored-message.ts'
import type { Answer, UnheldAnswer } from '../port.ts'
import { readUpTo } from './read-limited.ts'

/** A Response in plain values; `stream` is its body where that is too large to hold, or has no end by its nature. */
export interface HeldResponse {
  readonly answer: Answer | UnheldAnswer
  readonly stream?: ReadableStream<Uint8Array>
}

/** Also one of another realm, or of a package that brings its own. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

export async function answerOf(response: Response, limit: number): Promise<HeldResponse> {
  const plain = { status: response.status, headers: [...response.headers], body: null }
  if (!response.body) return { answer: plain }
  if (isEventStream(plain.headers)) {
    return { answer: { ...plain, unheld: true }, stream: response.body }
  }
  const { chunks, size, more } = await readUpTo(response.body, limit)
  if (!more) return { answer: { ...plain, body: joinChunks(chunks, size) } }
  return { answer: { ...plain, unheld: true }, stream: continued(chunks, more) }
}

/** What was read already, then the rest as it comes. */
function continued(
  chunks: readonly Uint8Array[],
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const first = [...chunks]
  return new ReadableStream({
    async pull(controller) {
      const chunk = first.shift()
      if (chunk) return controller.enqueue(chunk)
      const { done, value } = await rest.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => rest.cancel(reason),
  })
}

export function responseOf(answer: Answer, stream?: ReadableStream<Uint8Array>): Response {
  const body = isBodiless(answer.status) ? null : (stream ?? answer.body)
  return new Response(body as BodyInit | null, { status: answer.status, headers: readableHeaders(answer.headers) })
}
