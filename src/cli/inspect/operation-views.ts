import type { Engine } from '../../client/engine/engine.ts'
import { findOperation } from '../../client/engine/recover/stored-operations.ts'
import type { OperationRecord } from '../../client/operation/record.ts'
import { viewOf } from '../../client/operation/view.ts'
import { type IsSecret, redactedJson, shownBody, shownMessage } from './shown-body.ts'
import type { OperationDetail, OperationRow, ShownBody } from './wire.ts'

export function rowOf(record: OperationRecord, now: number): OperationRow {
  const { metadata: _, lane: _lane, holdsLane: _holds, horizonAt: _horizon, ...view } = viewOf(record, now)
  const last = record.attempts.at(-1)
  return { ...view, lastResult: last?.status ?? last?.fault }
}

export async function operationDetail(
  engine: Engine,
  key: string,
  isSecret: IsSecret,
): Promise<OperationDetail | undefined> {
  const found = await findOperation(engine, key)
  return found && detailOf(found.record, { isSecret, now: engine.clock.now() })
}

export async function operationBody(
  engine: Engine,
  { key, part }: { readonly key: string; readonly part: string },
  isSecret: IsSecret,
): Promise<ShownBody | undefined> {
  const record = (await findOperation(engine, key))?.record
  const message = part === 'answer' ? record?.response : record?.request
  return message && shownBody(message, isSecret)
}

function detailOf(
  record: OperationRecord,
  { isSecret, now }: { readonly isSecret: IsSecret; readonly now: number },
): OperationDetail {
  const { response, metadata, horizonAt, lease } = record
  return {
    ...rowOf(record, now),
    lane: record.lane,
    holdsLane: record.holdsLane,
    horizonAt,
    settledAt: record.settledAt,
    keptUntil: record.expiresAt,
    leaseUntil: lease && lease.until > now ? lease.until : undefined,
    runnerDeaths: record.deaths,
    lastError: record.error?.detail,
    mayHaveRepeated: record.mayHaveRepeated,
    honoursKeys: record.honoursKeys,
    metadata: metadata === undefined ? undefined : redactedJson(metadata, isSecret),
    attemptLog: record.attempts,
    inFlightSince: record.inFlightSince,
    request: shownMessage(record.request),
    answer: response && { ...shownMessage(response), status: response.status },
    canCancel: record.status === 'pending' || record.holdsLane,
    canRetry: isRetryable(record) && now < horizonAt,
  }
}

/** What `client.retry` sends again; of a settled one it would only give the recorded answer. */
function isRetryable({ status, inFlightSince }: OperationRecord): boolean {
  return status === 'pending' ? inFlightSince === undefined : status === 'failed' || status === 'cancelled'
}
