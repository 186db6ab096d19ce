/** The way back to what feeds a stream. */
export interface StreamFeed {
  pause(): void
  resume(): void
  /** The reader wants no more of it. */
  discard(reason: unknown): void
}

/** How much of a stream is kept ready for its reader. */
const READ_AHEAD_BYTES = 65_536

/** A body that is too long for memory, or has no end: its reader sets the pace. */
export class BodyStream {
  readonly stream: ReadableStream<Uint8Array>
  readonly #feed: StreamFeed
  #controller: ReadableByteStreamController | undefined

  constructor(feed: StreamFeed) {
    this.#feed = feed
    const source: UnderlyingByteSource = {
      type: 'bytes',
      start: (controller) => {
        this.#controller = controller
      },
      pull: () => feed.resume(),
      cancel: (reason) => feed.discard(reason),
    }
    this.stream = new ReadableStream(source, { highWaterMark: READ_AHEAD_BYTES })
  }

  write(chunk: Uint8Array): void {
    // A copy: the stream detaches the buffer that it is given, and a chunk is a window on one that undici goes on using.
    this.#controller?.enqueue(new Uint8Array(chunk))
    if ((this.#controller?.desiredSize ?? 0) <= 0) this.#feed.pause()
  }

  end(): void {
    this.#controller?.close()
    this.#controller?.byobRequest?.respond(0)
  }

  fail(error: unknown): void {
    this.#controller?.error(error)
  }
}
