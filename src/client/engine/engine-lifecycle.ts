import { inTime } from '../../foundation/in-time.ts'
import type { EngineContext } from './engine-context.ts'
import { LEASE_MS } from './lease-keeper.ts'
import { tellIfUnattended } from './unattended.ts'

/** Waits until nothing is running, delivering or being written. */
export async function flushEngine(engine: EngineContext): Promise<void> {
  while (engine.live.size > 0) await Promise.all(engine.live.all().map((operation) => operation.finished))
  await engine.background.idle()
  await engine.keeper.idle()
}

/** Starts no further attempt, lets what is on its way come home, and releases every lease. */
export async function closeEngine(engine: EngineContext): Promise<void> {
  for (const look of [...engine.starting]) look()
  for (const operation of [...engine.live.all(), ...engine.followers]) operation.stop({ because: 'closing' })
  // A handler that hangs, or that waits for this very close, holds nobody for longer than a lease.
  const settled = engine.passes.idle().then(() => flushEngine(engine))
  await inTime(engine.clock, settled, { ms: LEASE_MS, late: () => undefined }).catch(() => {})
  engine.coordination.leave()
  await engine.transport.close?.()
}

/** Log-out: stops what is running here and drops everything that the namespace holds. */
export async function forgetAll(engine: EngineContext): Promise<number> {
  engine.forgets.next()
  for (const look of [...engine.starting]) look()
  await engine.keeper.open()
  const running = engine.live.all()
  for (const operation of running) operation.stop({ because: 'cancelled' })
  await Promise.all(running.map((operation) => operation.finished))
  return engine.keeper.forget(engine.options.namespace)
}

const PRUNE_EVERY_MS = 10_000
const PRUNE_BATCH = 500

/** Drops what has outlived its retention, now and then, on the way of other work. */
export class Housekeeping {
  /** Has this client ever begun to resume? */
  attended = false
  #lastAt = Number.NEGATIVE_INFINITY
  #looked = false

  sweep(engine: EngineContext): void {
    const now = engine.clock.now()
    if (now - this.#lastAt < PRUNE_EVERY_MS) return
    this.#lastAt = now
    engine.background.add(this.#sweep(engine))
  }

  async #sweep(engine: EngineContext): Promise<void> {
    const isFirst = !this.#looked
    this.#looked = true
    try {
      // Asked for together, they share a transaction with the first write.
      await Promise.all([this.prune(engine), isFirst && !this.attended ? tellIfUnattended(engine) : undefined])
    } catch (error) {
      engine.events.tell({ type: 'journal.failed', error: error as Error })
    }
  }

  /** In batches, so that no other write waits long, but all of it: what comes in faster must not pile up. */
  async prune(engine: EngineContext): Promise<void> {
    while ((await engine.keeper.prune(engine.clock.now(), PRUNE_BATCH)) === PRUNE_BATCH);
  }
}
