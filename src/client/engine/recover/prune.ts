import type { Engine } from '../engine.ts'
import { SHORTEST_RETENTION_MS } from '../run/settle.ts'

const PRUNE_EVERY_MS = 10_000
const PRUNE_BATCH = 500
const MINUTE_MS = 60_000
/** Of records that are kept for longer than this, the times are noted to the minute behind, so that they stay few. */
const FINE_MS = 2 * SHORTEST_RETENTION_MS

type Parts = Pick<Engine, 'keeper' | 'clock' | 'closing' | 'upkeep'>

/** Drops records that have outlived their retention: when the journal is opened, on the way of other work, and in time. */
export class Pruner {
  readonly #times = new Set<number>()
  #lastAt = Number.NEGATIVE_INFINITY
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  /** In batches, so that no other write waits long, but all of it: what comes in faster must not pile up. */
  async prune({ keeper, clock }: Pick<Engine, 'keeper' | 'clock'>): Promise<void> {
    while ((await keeper.prune(clock.now(), PRUNE_BATCH)) === PRUNE_BATCH);
  }

  /** What an earlier run has left has expired by now, or, where it is kept for the shortest time, soon will have. */
  onOpened(parts: Parts): void {
    this.sweep(parts)
    this.expect(parts, parts.clock.now() + SHORTEST_RETENTION_MS)
  }

  /** Now and then. */
  sweep(parts: Parts): void {
    const now = parts.clock.now()
    // Either way: a clock may be set back.
    if (Math.abs(now - this.#lastAt) < PRUNE_EVERY_MS) return
    this.#lastAt = now
    const { upkeep } = parts
    upkeep.track(this.prune(parts).catch((error: unknown) => upkeep.reportFailure(undefined, error)))
  }

  /** A record expires at this time (epoch ms): the journal is swept then, also if no call comes. */
  expect(parts: Parts, expiresAt: number | undefined): void {
    if (expiresAt === undefined) return
    const isFar = expiresAt - parts.clock.now() > FINE_MS
    const at = isFar ? (Math.floor(expiresAt / MINUTE_MS) + 1) * MINUTE_MS : Math.ceil(expiresAt / 1000) * 1000
    this.#times.add(at)
    if (!this.#timer || at < this.#timer.at) this.#arm(parts, at)
  }

  /** No timer keeps the process alive; a clock of the caller's own that has none of that kind gets none. */
  #arm(parts: Parts, at: number): void {
    const { clock, closing } = parts
    this.stop()
    if (!clock.background || closing.aborted) return
    this.#timer = { at, cancel: clock.background(at - clock.now(), () => this.#onTime(parts)) }
  }

  #onTime(parts: Parts): void {
    const now = parts.clock.now()
    this.#timer = undefined
    const soonest = this.#lastAt + PRUNE_EVERY_MS
    if (now >= soonest || now < this.#lastAt - PRUNE_EVERY_MS) {
      for (const at of this.#times) if (at <= now) this.#times.delete(at)
      this.sweep(parts)
    }
    const next = Math.min(...this.#times)
    if (Number.isFinite(next)) this.#arm(parts, Math.max(next, Math.min(soonest, now + PRUNE_EVERY_MS)))
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
