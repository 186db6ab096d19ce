import type { ClaimedRecord } from '../journal/record-keeper.ts'
import { isSettled, type OperationRecord } from '../operation/record.ts'
import { release } from '../operation/transition.ts'
import type { ResolvedCall } from '../policy/resolved-options.ts'
import { trustsOrigin } from './attempt-headers.ts'
import { takeOver } from './claiming.ts'
import { lacksCredentials } from './credentials.ts'
import { deliver } from './deliver.ts'
import type { EngineContext } from './engine-context.ts'
import { withoutSecrets } from './kept-record.ts'
import { LiveOperation } from './live-operation.ts'
import { journaled } from './persistence.ts'
import type { RunTerms } from './run-terms.ts'
import { work } from './work.ts'

/** An operation whose runner died this often while it held it is not touched again unless asked for by key. */
const DEATHS_UNTIL_PARKED = 5

/** What became of one claimed operation. `skipOrigin`: nothing more can be sent there before that time. */
export interface Resumed {
  readonly record: OperationRecord
  readonly skipOrigin?: { readonly origin: string; readonly until: number } | undefined
}

/** Goes on with one operation whose lease has just been taken. */
export async function resumeOne(
  engine: EngineContext,
  claimed: ClaimedRecord,
  deadOwners: readonly string[],
): Promise<Resumed> {
  const record = takeOver(engine, claimed, deadOwners)
  const operation = new LiveOperation(record)
  if (isSettled(record)) return redeliver(engine, operation)
  const { origin } = record.request
  if (engine.clock.now() < record.horizonAt) {
    if (record.deaths >= DEATHS_UNTIL_PARKED) return putBack(engine, operation, 'poison')
    if (!maySend(engine, record)) return putBack(engine, operation, 'auth')
  }
  engine.events.tellOf(record, { type: 'operation.resumed', attempts: record.attemptCount })
  const finish = await work(engine, operation, resumeTerms(engine))
  await operation.delivered
  if (finish.is === 'settled') return { record: finish.record }
  // Taken away, or not written down: whatever this run believes, the journal says pending.
  if (finish.is !== 'kept') return { record: { ...operation.record, status: 'pending' } }
  const { reason, retryAt } = finish.error
  const blocked = reason === 'budget' || reason === 'breaker'
  return { record: finish.record, skipOrigin: blocked ? { origin, until: retryAt ?? engine.clock.now() } : undefined }
}

/** A client that knows where it belongs never sends an operation of its journal anywhere else; nor without what it needs. */
function maySend({ options }: EngineContext, record: OperationRecord): boolean {
  if (lacksCredentials(options, record)) return false
  return options.anyOrigin || trustsOrigin(options, record.request.origin)
}

function resumeTerms(engine: EngineContext): RunTerms {
  const call: ResolvedCall = engine.options
  return {
    mode: 'resume',
    call,
    deadlineAt: engine.clock.now() + call.deadlineMs,
    singleAttempt: undefined,
    credentials: undefined,
    keyed: true,
    redirect: 'follow',
    giveUp: 'keep',
    persistence: journaled(engine),
  }
}

async function redeliver(engine: EngineContext, operation: LiveOperation): Promise<Resumed> {
  await deliver(engine, operation)
  return { record: operation.record }
}

/** Gives a claim back as it was found. */
export async function putBackUntouched(engine: EngineContext, { record }: ClaimedRecord): Promise<void> {
  const operation = new LiveOperation(record)
  const { dueAt, heldBy } = record
  await engine.keeper.commit(withoutSecrets(release(record, { dueAt, heldBy })), operation.fence)
}

/** How soon the next resume looks at what this one could not send: it may have the credentials. */
const LOOK_AGAIN_MS = 300_000

/** Leaves it pending, with the reason on it. What is poison is not taken up by any resume before its horizon. */
async function putBack(engine: EngineContext, operation: LiveOperation, reason: 'poison' | 'auth'): Promise<Resumed> {
  const { horizonAt } = operation.record
  const until = reason === 'poison' ? horizonAt : Math.min(horizonAt, engine.clock.now() + LOOK_AGAIN_MS)
  const notBefore = reason === 'poison' ? horizonAt : undefined
  const record = release(operation.record, { dueAt: until, notBefore, heldBy: reason })
  await engine.keeper.commit(withoutSecrets(record), operation.fence)
  engine.events.tellOf(record, { type: 'operation.waiting', until, reason })
  return { record }
}
