import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from './live-operation.ts'

/** Does the platform say that no request can leave now? */
export function isOffline({ coordination }: Pick<Engine, 'coordination'>): boolean {
  return coordination.isOnline?.() === false
}

/** Waits for the network, so that its absence costs no attempt. False: the time was up, or the run was stopped. */
export async function untilOnline(engine: Engine, operation: LiveOperation, call: Call): Promise<boolean> {
  const { clock, coordination, events, leases, networkCheck } = engine
  const { deadline } = call
  const { horizonAt } = operation.record
  const leftMs = (): number => Math.min(deadline.leftMs, horizonAt - clock.now())
  const stopListening = coordination.onActive(() => operation.notify())
  const stopWaiting = networkCheck.wanted(operation.record.request.url)
  events?.emitFor(operation.record, {
    type: 'operation.waiting',
    until: Math.min(deadline.at, horizonAt),
    reason: 'network',
  })
  try {
    while (isOffline(engine)) {
      const left = leftMs()
      if (left <= 0 || operation.stopOrder) return false
      await operation.pause(clock, left, 'news')
      // The news may be that another tab has ended the operation: its caller here need not wait for the network.
      const isLate = leftMs() <= 0 || !isOffline(engine)
      if (!isLate && !operation.stopOrder && call.durable && !(await leases.prove(operation))) return false
    }
    return true
  } finally {
    stopWaiting()
    stopListening()
  }
}
