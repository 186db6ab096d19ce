import { inTime } from '../../foundation/in-time.ts'
import { countFruitlessRun, markDelivered, release } from '../operation/transition.ts'
import { delayBetweenRuns } from '../policy/decide.ts'
import type { EngineContext } from './engine-context.ts'
import { expiryOf, withoutLease, withoutSecrets } from './kept-record.ts'
import type { LiveOperation } from './live-operation.ts'
import { reportFailure } from './report-failure.ts'

/** A handler that hangs must not keep the settlement from others for ever; it is then delivered again. */
const LONGEST_HANDLER_MS = 300_000

/** Hands a settlement to its handlers; the record is let go only after they have taken it. Never rejects. */
export async function deliver(engine: EngineContext, operation: LiveOperation): Promise<void> {
  engine.leases.hold(operation)
  try {
    // Another runner that has taken it after a freeze may have settled it otherwise, and delivers what is owed.
    if (!(await engine.leases.isOurs(operation))) return
    const outcome = await attemptDelivery(engine, operation)
    if (outcome === 'delivered') await markAsDelivered(engine, operation)
    else if (outcome === 'no handler') await leaveUndelivered(engine, operation)
    else await postpone(engine, operation, outcome.error)
  } catch (error) {
    reportFailure(engine, operation, error)
  } finally {
    engine.leases.drop(operation)
  }
}

async function attemptDelivery(
  engine: EngineContext,
  operation: LiveOperation,
): Promise<'delivered' | 'no handler' | { readonly error: unknown }> {
  try {
    const delivered = await inTime(engine.clock, engine.handlers.deliver(operation.record), {
      ms: LONGEST_HANDLER_MS,
      late: () => new Error('The handler did not finish within five minutes'),
    })
    return delivered ? 'delivered' : 'no handler'
  } catch (error) {
    return { error }
  }
}

async function markAsDelivered(engine: EngineContext, operation: LiveOperation): Promise<void> {
  const delivered = markDelivered(operation.record)
  const record = { ...delivered, expiresAt: expiryOf(engine.options, delivered) }
  await engine.keeper.commit(withoutSecrets(withoutLease(record)), operation.fence)
}

/** Its handler went away while the settlement was being written: the next resume that has one delivers it. */
async function leaveUndelivered(engine: EngineContext, operation: LiveOperation): Promise<void> {
  await engine.keeper.commit(withoutSecrets(withoutLease(operation.record)), operation.fence)
}

/** The handler threw: the settlement stays, and the next resume delivers it again. */
async function postpone(engine: EngineContext, operation: LiveOperation, error: unknown): Promise<void> {
  const now = engine.clock.now()
  const dueAt = now + delayBetweenRuns(operation.record.fruitlessRuns, engine.random)
  const postponed = release(countFruitlessRun(operation.record), { dueAt, heldBy: undefined })
  engine.events.tellOf(postponed, { type: 'operation.waiting', at: now, until: dueAt, reason: 'attempts', error })
  await engine.keeper.commit(withoutSecrets(postponed), operation.fence)
}
