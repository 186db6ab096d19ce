import { type AbortLike, abortReason, onAbort } from '../../foundation/abort.ts'

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
