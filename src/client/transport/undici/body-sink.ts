import { joinChunks } from '../../../foundation/join-chunks.ts'

/** The way back to what feeds a body. */
export interface Valve {
  pause(): void
  resume(): void
  /** The reader wants no more of it. */
  discard(reason: unknown): void
}

/** How much of a stream is kept ready for its reader. */
const READ_AHEAD_BYTES = 65_536

/** Collects a body up to a limit; a longer one turns into a stream that starts with the first byte. */
export class BodySink {
  readonly #limit: number
  readonly #valve: Valve
  readonly #onStream: (stream: ReadableStream<Uint8Array>) => void
  #chunks: Uint8Array[] = []
  #size = 0
  #reader: ReadableByteStreamController | undefined

  constructor(limit: number, valve: Valve, onStream: (stream: ReadableStream<Uint8Array>) => void) {
    this.#limit = limit
    this.#valve = valve
    this.#onStream = onStream
  }

  get streaming(): boolean {
    return this.#reader !== undefined
  }

  write(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return
    if (this.#reader) {
      this.#enqueue(this.#reader, chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    if (this.#size > this.#limit) this.openStream()
  }

  /** From here on, what was collected and what comes goes to a reader, at the reader's pace. */
  openStream(): void {
    const source: UnderlyingByteSource = {
      type: 'bytes',
      start: (controller) => {
        this.#reader = controller
        for (const chunk of this.#chunks) this.#enqueue(controller, chunk)
        this.#chunks = []
      },
      pull: () => this.#valve.resume(),
      cancel: (reason) => this.#valve.discard(reason),
    }
    this.#onStream(new ReadableStream(source, { highWaterMark: READ_AHEAD_BYTES }))
  }

  /** All that was collected. */
  bytes(): Uint8Array {
    return joinChunks(this.#chunks, this.#size)
  }

  end(): void {
    this.#reader?.close()
    this.#reader?.byobRequest?.respond(0)
  }

  fail(error: unknown): void {
    this.#reader?.error(error)
  }

  #enqueue(reader: ReadableByteStreamController, chunk: Uint8Array): void {
    // A copy: the stream takes its buffer away from whoever else holds it.
    reader.enqueue(new Uint8Array(chunk))
    if ((reader.desiredSize ?? 0) <= 0) this.#valve.pause()
  }
}
