import { BodyTooLarge } from '../../admission/body-too-large.ts'

/** All bytes of a stream, or BodyTooLarge. */
export async function readLimited(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array | null> {
  if (!stream) return null
  const { chunks, more } = await readUpTo(stream, limit)
  if (!more) return joined(chunks)
  // One of two branches of a stream: its cancel resolves only when the other one is cancelled too.
  more.cancel().catch(() => {})
  throw new BodyTooLarge()
}

/** The beginning of a stream; `more` is the rest of it where it is longer than `limit`. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<{ readonly chunks: Uint8Array[]; readonly more?: ReadableStreamDefaultReader<Uint8Array> }> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { chunks }
    chunks.push(value)
    size += value.length
    if (size > limit) return { chunks, more: reader }
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
