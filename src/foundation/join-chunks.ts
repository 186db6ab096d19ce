import { type AbortLike, onAbort } from './abort.ts'

/** One array of bytes of its own: a chunk from a socket is a window on a larger buffer that others may read too. */
export function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/** What was read of a stream: all of it, or, where that is more than the limit, the chunks up to there. */
export interface ReadChunks {
  readonly whole: Uint8Array<ArrayBuffer> | undefined
  readonly chunks: Uint8Array[]
}

/** Reads until the end, the limit (bytes) or the abort, whose reason it throws. */
export async function readChunksUpTo(
  limit: number,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortLike | undefined,
): Promise<ReadChunks> {
  const stop = onAbort(signal, () => {
    reader.cancel(signal?.reason).catch(() => {})
  })
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    while (size <= limit) {
      const { done, value } = await reader.read()
      if (signal?.aborted) throw signal.reason
      if (done) return { whole: joinChunks(chunks, size), chunks }
      chunks.push(value)
      size += value.byteLength
    }
    return { whole: undefined, chunks }
  } finally {
    stop()
  }
}
