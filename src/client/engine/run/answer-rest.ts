import { type AbortLike, abortReason, onAbort } from '../../../foundation/abort.ts'
import { type AnswerRest, isResponse } from '../../../protocol/stored-message.ts'

/* The part of an answer that is not held in memory: a body larger than the limit, an event stream, or a fetch Response. */

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

/**
 * The same stream, failing with the signal's reason the moment that aborts, also where the source takes no
 * notice. `done` runs once, however it ends.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  signal: AbortLike,
  done: () => void = () => {},
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let stopListening = (): void => {}
  const end = (): void => {
    stopListening()
    done()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stopListening = onAbort(signal, () => {
          controller.error(abortReason(signal))
          done()
          reader.cancel().catch(() => {})
        })
      },
      async pull(controller) {
        const chunk = await reader.read().catch((error: unknown) => {
          end()
          throw error
        })
        if (signal.aborted) return
        if (!chunk.done) return controller.enqueue(chunk.value)
        end()
        controller.close()
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
