import type { Consumed } from '../../entry/consumed.ts'
import type { MessageDraft } from '../port.ts'

/** What an effect on a ledger in memory gets: it registers how to undo what it did. */
export interface MemoryTransaction {
  /** Called, last registered first, where the effect is rolled back. */
  onRollback(undo: () => void): void
}

export class MemoryUndo {
  readonly #undos: (() => void)[] = []
  readonly transaction: MemoryTransaction = { onRollback: (undo) => void this.#undos.push(undo) }

  rollBack(): void {
    for (const undo of this.#undos.splice(0).reverse()) undo()
  }
}

interface Message {
  readonly scope: string
  /** False where its work is known to have returned none. */
  hasValue?: boolean
  readonly expiresAt: number
  /** What its work returns; a duplicate that comes meanwhile waits for it. */
  readonly work: Promise<string | null>
}

/** The messages that were consumed, each in one transaction with its work. */
export class MemoryMessages {
  readonly #messages = new Map<string, Message>()

  get size(): number {
    return this.#messages.size
  }

  async consume(
    { scope, id, now, retentionMs }: MessageDraft,
    work: (tx: MemoryTransaction) => string | null | Promise<string | null>,
  ): Promise<Consumed> {
    const place = JSON.stringify([scope, id])
    for (let first = this.#messages.get(place); first && first.expiresAt > now; first = this.#messages.get(place)) {
      try {
        return { duplicate: true, value: await first.work }
      } catch {
        // Rolled back: this delivery may be the one that does the work.
      }
    }
    const undo = new MemoryUndo()
    const running = (async () => work(undo.transaction))().catch((error: unknown) => {
      undo.rollBack()
      this.#messages.delete(place)
      throw error
    })
    const message: Message = { scope, expiresAt: now + retentionMs, work: running }
    this.#messages.set(place, message)
    const value = await running
    message.hasValue = value !== null
    return { duplicate: false, value }
  }

  /** How many had something to erase. */
  erase(scope: string, what: 'answers' | 'entries'): number {
    let erased = 0
    for (const [place, message] of this.#messages) {
      if (message.scope !== scope || (what === 'answers' && message.hasValue === false)) continue
      if (what === 'entries') this.#messages.delete(place)
      else this.#messages.set(place, { ...message, work: message.work.then(() => null), hasValue: false })
      erased++
    }
    return erased
  }

  /** When the retention of each ends. */
  ends(): number[] {
    return [...this.#messages.values()].map(({ expiresAt }) => expiresAt)
  }

  expired(now: number): number {
    return [...this.#messages.values()].filter(({ expiresAt }) => expiresAt <= now).length
  }

  reap(limit: number, now: number): number {
    const gone = [...this.#messages].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit)
    for (const [place] of gone) this.#messages.delete(place)
    return gone.length
  }
}
