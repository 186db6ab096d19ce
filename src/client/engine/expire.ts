import { inTime } from '../../foundation/in-time.ts'
import { redactUrl } from '../../observe/redact.ts'
import { effectOf, type OperationRecord } from '../operation/record.ts'
import type { ClientOptions, OperationView, ReconciledOutcome } from '../options.ts'
import type { TransportResponse } from '../transport/port.ts'
import { shownUrl } from './emitter.ts'
import type { EngineContext } from './engine-context.ts'
import type { Ending } from './settle.ts'

/** An operation past its horizon is never sent again. The caller's `reconcile` may know what became of it. */
export async function endingOfExpired(engine: EngineContext, record: OperationRecord): Promise<Ending> {
  const { reconcile } = engine.options
  const expired: Ending = { status: 'expired', reason: 'horizon', effect: record.effect }
  if (!reconcile) return expired
  const known = await inTime(engine.clock, asked(reconcile, record), {
    ms: engine.options.deadlineMs,
    late: () => new Error('reconcile did not answer within the deadline'),
  })
  if (!known) return expired
  const effect = known.effect ?? (known.status === 'succeeded' ? 'applied' : record.effect)
  const response = known.response && (await plain(known.response))
  return { status: known.status, reason: 'horizon', effect, response }
}

async function asked(
  reconcile: NonNullable<ClientOptions['reconcile']>,
  record: OperationRecord,
): Promise<ReconciledOutcome | undefined> {
  return reconcile(viewOf(record))
}

export function viewOf(record: OperationRecord): OperationView {
  return {
    key: record.key,
    id: record.id,
    name: record.name,
    metadata: record.metadata,
    status: record.status,
    attempts: record.attemptCount + (record.inFlightSince === undefined ? 0 : 1),
    acceptedAt: record.acceptedAt,
    method: record.request.method,
    url: shownUrl(record.request),
    effect: effectOf(record),
    inFlight: record.inFlightSince !== undefined,
    horizonAt: record.horizonAt,
    nextAttemptAt: nextAttemptAt(record),
    reason: record.reason ?? record.heldBy,
  }
}

/** Parked operations are looked at again at their horizon, but only to expire. */
function nextAttemptAt({ status, inFlightSince, dueAt, notBefore, horizonAt }: OperationRecord): number | undefined {
  const at = Math.max(dueAt, notBefore)
  return status !== 'pending' || inFlightSince !== undefined || at === 0 || at >= horizonAt ? undefined : at
}

async function plain(response: Response): Promise<TransportResponse> {
  const { status, statusText, url, redirected } = response
  return {
    kind: 'response',
    status,
    statusText,
    headers: [...response.headers],
    body: new Uint8Array(await response.arrayBuffer()),
    url: redactUrl(url),
    redirected,
  }
}
