import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

type Listen = (end: (() => void) | undefined) => void

async function pause({ clock }: EngineContext, ms: number, listen: Listen): Promise<void> {
  const controller = new AbortController()
  listen(() => controller.abort())
  await clock.sleep(Math.max(0, ms), controller.signal).catch(() => {})
  listen(undefined)
}

/** Waits, and ends early when a stop is ordered. */
export function pauseFor(engine: EngineContext, operation: LiveOperation, ms: number): Promise<void> {
  return pause(engine, ms, (end) => operation.whenStopped(end))
}

/** The same, and also ends when there is news: a neighbour's hint, the network's return. */
export function pauseForNews(engine: EngineContext, operation: LiveOperation, ms: number): Promise<void> {
  return pause(engine, ms, (end) => {
    operation.whenStopped(end)
    operation.whenNews(end)
  })
}
