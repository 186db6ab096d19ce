import { inTime } from '../../foundation/in-time.ts'
import { redactUrl } from '../../observe/redact.ts'
import type { OperationRecord } from '../operation/record.ts'
import { viewOf } from '../operation/view.ts'
import type { ClientOptions, ReconciledOutcome } from '../options.ts'
import type { TransportResponse } from '../transport/port.ts'
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
