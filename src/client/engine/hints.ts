import type { Hint } from '../coordination/port.ts'
import type { OperationRecord } from '../operation/record.ts'
import type { EngineContext } from './engine-context.ts'

/** Tells the neighbours, where there is a way to. */
export function hint(engine: EngineContext, is: Hint['is'], { namespace, key }: OperationRecord): void {
  engine.coordination.hint?.({ is, namespace, key })
}

/** What a neighbour said of an origin, or of an operation that is worked on or waited for here. */
export function heed(engine: EngineContext, { is, namespace, key, level }: Hint): void {
  if (is === 'level') engine.containments.restore(key, level)
  if (namespace !== engine.options.namespace || is === 'pending') return
  const live = engine.live.byKey(key)
  if (is === 'settled') {
    live?.nudge()
    for (const follower of engine.followers) if (follower.record.key === key) follower.nudge()
  } else if (live?.record.lease?.owner === engine.coordination.owner) {
    live.record = { ...live.record, awaited: true }
  }
}
