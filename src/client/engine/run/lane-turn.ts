import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from './live-operation.ts'

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/** Does it have to wait for its turn? A resume claims only the first of a lane, and the first stays the first. */
export function mustTakeTurn({ record }: LiveOperation, { mode, durable }: Call): boolean {
  return record.holdsLane && durable && mode === 'call'
}

/**
 * Waits until the operation is the first of its lane: at once when one of the same lane settles in this client, by the
 * message of a peer, or by the next look at the journal. False: the time was up, or the run was stopped.
 */
export async function takeTurn(
  { clock, events, keeper, leases, live }: Engine,
  operation: LiveOperation,
  { deadline }: Call,
): Promise<boolean> {
  const { namespace, key, lane = '', horizonAt } = operation.record
  try {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_LOOK_MS, pause * 1.5)) {
      if ((await keeper.firstInLane(namespace, lane)) === key) {
        const before = live.sendingInLaneOf(operation)
        if (!before) return true
        // Another client has ended the one before it: its request here is aborted before the next one leaves.
        leases.check(before)
      }
      const left = Math.min(deadline.leftMs, horizonAt - clock.now())
      if (left <= 0 || operation.stopOrder) return false
      if (!live.inLanes.has(operation)) {
        live.inLanes.add(operation)
        events?.emitFor(operation.record, { type: 'operation.waiting', until: clock.now() + left, reason: 'lane' })
      }
      await operation.pause(clock, Math.min(pause, left), 'news')
    }
  } finally {
    live.inLanes.delete(operation)
  }
}
