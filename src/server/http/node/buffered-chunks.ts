import type { Done } from './intercept-response.ts'

interface BufferedChunk {
  readonly chunk: Buffer
  readonly done: Done
}

/** The body of a response that is not sent yet, with the callbacks of those who wait for that. */
export class BufferedChunks {
  #chunks: BufferedChunk[] = []
  readonly #onEnd: Done[] = []
  size = 0

  push(chunk: Buffer, done: Done): void {
    this.#chunks.push({ chunk, done })
  }

  /** To be called when all is sent, or nothing will be. */
  onEnd(done: Done): void {
    this.#onEnd.push(done)
  }

  body(): Buffer | null {
    return this.size === 0 ? null : Buffer.concat(this.#chunks.map(({ chunk }) => chunk))
  }

  take(): BufferedChunk[] {
    return this.#chunks.splice(0)
  }

  callAll(): void {
    for (const { done } of this.take()) done?.()
    for (const done of this.#onEnd.splice(0)) done?.()
  }
}
