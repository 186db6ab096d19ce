import { ClaimLostError } from '../guard/context.ts'
import type { Session } from '../guard/session.ts'
import type { Answer } from './port.ts'

/** The rest of a session whose answer is streamed: it lasts until the stream has ended. */
export class StreamedSession {
  readonly #session: Session
  readonly #answer: Answer

  constructor(session: Session, answer: Answer) {
    this.#session = session
    this.#answer = answer
  }

  /** To be awaited before the end is passed on: a caller that got everything finds it on record. */
  async end(): Promise<void> {
    const { status } = await this.#session.complete(this.#answer)
    if (this.#answer.status < 400 && status >= 400) throw new ClaimLostError()
  }

  async fail(error: unknown): Promise<void> {
    await this.#session.fail(error)
  }

  /** The caller has hung up. Nobody sees whether the source of the stream is still at work. */
  leave(): void {
    void this.#session.fail(new Error('The answer was not read to its end'), { unseen: new Promise(() => {}) })
  }
}

/** Passes the stream on, and its end when that is on record. */
export function recordedStream(
  source: ReadableStream<Uint8Array>,
  session: StreamedSession,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  const read = async (): Promise<ReadableStreamReadResult<Uint8Array>> => {
    const next = await reader.read()
    if (next.done) await session.end()
    return next
  }
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await read().catch(async (error) => {
          await session.fail(error)
          throw error
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => {
        session.leave()
        return reader.cancel(reason)
      },
    },
    // Not read ahead: the end of the source is seen when the caller has taken the rest.
    { highWaterMark: 0 },
  )
}
