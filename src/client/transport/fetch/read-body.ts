import { type AbortLike, onAbort } from '../../../foundation/abort.ts'
import { joinChunks } from '../../../foundation/join-chunks.ts'

/** A whole body, or all of it as a stream. */
export interface ReadBody {
  readonly body: Uint8Array | null
  readonly rest?: ReadableStream<Uint8Array> | undefined
}

export interface ReadRules {
  readonly signal: AbortLike
  /** How many bytes are read into memory; `'stream'`: none. */
  readonly limit: number | 'stream'
  /** Calls `cut` when it was waited for long enough; gives a function that cancels that. */
  readonly bound?: ((cut: () => void) => (() => void) | undefined) | undefined
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

export async function readBody(response: Response, rules: ReadRules): Promise<ReadBody> {
  const { body } = response
  if (!body) return { body: null }
  if (rules.limit === 'stream') return { body: null, rest: body }
  // Some fetch functions have streams of another kind.
  if (typeof body.getReader !== 'function') return { body: new Uint8Array(await response.arrayBuffer()) }
  const reader: Reader = body.getReader()
  const stop = onAbort(rules.signal, () => quietly(reader.cancel(rules.signal.reason)))
  // A reader that is cancelled ends as if the body did.
  const stopCut = rules.bound?.(() => quietly(reader.cancel()))
  try {
    return await collect(reader, rules.limit, rules.signal)
  } finally {
    stop()
    stopCut?.()
  }
}

/** Nobody will read it. Not waited for: where a body was split in two, cancelling one half waits for the other. */
export function discardBody(response: Response): void {
  const body = response?.body as (ReadableStream & { destroy?: () => void }) | null | undefined
  if (!body || body.locked) return
  if (typeof body.cancel === 'function') quietly(body.cancel())
  // Streams of Node's kind: one that nobody reads would keep its connection, and with it the process.
  else if (typeof body.destroy === 'function') body.destroy()
}

async function collect(reader: Reader, limit: number, signal: AbortLike): Promise<ReadBody> {
  const chunks: Uint8Array[] = []
  let size = 0
  while (size <= limit) {
    const { done, value } = await reader.read()
    if (signal.aborted) throw signal.reason
    if (done) return { body: joinChunks(chunks, size) }
    chunks.push(value)
    size += value.byteLength
  }
  return { body: null, rest: resumed(chunks, reader) }
}

/** What was read so far, then the rest at the reader's pace. */
function resumed(chunks: Uint8Array[], reader: Reader): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const chunk = chunks.shift() ?? (await reader.read()).value
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function quietly(work: Promise<unknown>): void {
  work.catch(() => {})
}
