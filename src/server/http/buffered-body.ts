import { ConfigurationError } from '../../errors/classes.ts'
import { joinChunks } from '../../foundation/join-chunks.ts'
import { BodyTooLarge } from '../admission/check-request.ts'

interface BufferedBody<Chunk extends Uint8Array> {
  readonly chunks: readonly Chunk[]
  /** Bytes. */
  readonly size: number
  /** False where the body is longer than the limit: the rest is still to be read. */
  readonly isWhole: boolean
}

type Read<Chunk> = () => Promise<{ readonly done?: boolean | undefined; readonly value?: Chunk | undefined }>

/** Reads chunk after chunk until the end of a body, or until more than `limit` bytes are buffered. */
export async function bufferBody<Chunk extends Uint8Array>(
  read: Read<Chunk>,
  limit: number,
): Promise<BufferedBody<Chunk>> {
  const chunks: Chunk[] = []
  let size = 0
  for (;;) {
    const { done, value } = await read()
    if (done || !value) return { chunks, size, isWhole: true }
    chunks.push(value)
    size += value.length
    if (size > limit) return { chunks, size, isWhole: false }
  }
}

/** The body of a request. */
export async function readWithin(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array | null> {
  if (!stream) return null
  const reader = stream.getReader()
  const { chunks, size, isWhole } = await bufferBody(() => reader.read(), limit)
  if (isWhole) return joinChunks(chunks, size)
  drain(reader).catch(() => {})
  throw new BodyTooLarge()
}

/** A caller that is still sending would not read its answer. */
async function drain(rest: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await rest.read()).done);
}

/** Files are not among the fields that a parser leaves: two different uploads would look the same. */
export function formAlreadyRead(): ConfigurationError {
  return new ConfigurationError(
    'A form with files was read before the ledger saw it: put the ledger before what reads the form',
  )
}
