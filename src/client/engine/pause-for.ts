import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/** Waits, and ends early when a stop is ordered. */
export async function pauseFor(engine: EngineContext, operation: LiveOperation, ms: number): Promise<void> {
  const controller = new AbortController()
  operation.whenStopped(() => controller.abort())
  await engine.clock.sleep(Math.max(0, ms), controller.signal).catch(() => {})
  operation.whenStopped(undefined)
}
