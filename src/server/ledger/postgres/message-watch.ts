import { systemClock } from '../../../foundation/clock.ts'
import type { MessageDraft } from '../port.ts'

/** Messages in flight elsewhere for which a delivery of this process looks again. */
export type WatchedMessages = Map<string, Promise<void>>

/**
 * Of several deliveries of a message one looks again after a pause, and the others wait for it: otherwise all of them would take
 * turns at the pool of the application.
 */
export class MessageWatch {
  readonly #watched: WatchedMessages
  readonly #place: string
  #end: (() => void) | undefined

  constructor(watched: WatchedMessages, { scope, id }: MessageDraft) {
    this.#watched = watched
    this.#place = JSON.stringify([scope, id])
  }

  async wait(ms: number): Promise<void> {
    if (!this.#end) {
      const other = this.#watched.get(this.#place)
      if (other) return other
      const ended = new Promise<void>((resolve) => {
        this.#end = resolve
      })
      this.#watched.set(this.#place, ended)
    }
    await systemClock.sleep(ms)
  }

  end(): void {
    if (!this.#end) return
    this.#watched.delete(this.#place)
    this.#end()
  }
}
