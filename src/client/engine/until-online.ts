import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'
import { pauseForNews } from './pause-for.ts'

/** Is it certain that no request can leave now? */
export function isOffline({ coordination }: EngineContext): boolean {
  return coordination.isOnline?.() === false
}

/** Waits for the network, so that its absence costs no attempt. False: there was none until the limit, or the run was stopped. */
export async function untilOnline(engine: EngineContext, operation: LiveOperation, limitAt: number): Promise<boolean> {
  const { clock, coordination, events } = engine
  const stopWaking = coordination.onWake(() => operation.nudge())
  events.tellOf(operation.record, { type: 'operation.waiting', until: limitAt, reason: 'network' })
  try {
    while (isOffline(engine)) {
      const left = limitAt - clock.now()
      if (left <= 0 || operation.stopOrder) return false
      await pauseForNews(engine, operation, left)
    }
    return true
  } finally {
    stopWaking()
  }
}
