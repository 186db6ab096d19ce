import { joinChunks } from '../../../foundation/join-chunks.ts'
import { BodyTooLarge } from '../../admission/body-too-large.ts'

/** All bytes of a stream, or BodyTooLarge. */
export async function readLimited(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array | null> {
  if (!stream) return null
  const { chunks, size, more } = await readUpTo(stream, limit)
  if (!more) return joinChunks(chunks, size)
  drain(more).catch(() => {})
  throw new BodyTooLarge()
}

/** Read and dropped: a caller that is still sending would not look at its answer. */
async function drain(rest: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await rest.read()).done);
}

interface Beginning {
  readonly chunks: Uint8Array[]
  readonly size: number
  readonly more?: ReadableStreamDefaultReader<Uint8Array>
}

/** The beginning of a stream; `more` is the rest of it where it is longer than `limit`. */
export async function readUpTo(stream: ReadableStream<Uint8Array>, limit: number): Promise<Beginning> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { chunks, size }
    chunks.push(value)
    size += value.length
    if (size > limit) return { chunks, size, more: reader }
  }
}
