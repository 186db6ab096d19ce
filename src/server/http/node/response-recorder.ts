import type { Answer } from '../port.ts'

/** The session of the handler, as far as its response is concerned. */
export interface ResponseRecorder {
  /** Bytes that are buffered at most. */
  readonly limit: number
  /** Is the answer recorded? If not, the response is sent from its first byte on. */
  records(): boolean
  /** The answer is sent as it comes, and recorded by `complete` before its end. Returns the answer to send. */
  stream(answer: Answer): Promise<Answer>
  /** Records the answer. Returns the answer to send. */
  complete(answer: Answer): Promise<Answer>
  /** The handler has destroyed the response before the end of its answer: the handler has failed. */
  onDestroyed(error: unknown): void
  /** The response is closed before the end of its answer; called again when the handler then begins one. */
  onClosed(): void
  onError(error: unknown): void
}
