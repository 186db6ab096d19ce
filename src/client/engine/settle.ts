import type { Effect, Reason } from '../../errors/reason.ts'
import { isReplayed } from '../../protocol/header-names.ts'
import { type AnswerRest, isResponse, type StoredResponse } from '../../protocol/stored-message.ts'
import type { OperationRecord, SettledStatus, StoredFailure } from '../operation/record.ts'
import { settle } from '../operation/transition.ts'
import type { TransportResponse } from '../transport/port.ts'
import { deliver } from './deliver.ts'
import type { EngineContext } from './engine-context.ts'
import { hint } from './hints.ts'
import { expiryOf } from './kept-record.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import type { Persistence } from './persistence.ts'
import { reportFailure } from './report-failure.ts'

/** How an operation ends, before it is written down. */
export interface Ending {
  readonly status: SettledStatus
  readonly reason: Reason | undefined
  readonly effect: Effect
  readonly response?: TransportResponse | undefined
  readonly failure?: StoredFailure | undefined
  readonly cause?: unknown
  readonly mayHaveRepeated?: boolean | undefined
}

/** Writes the settlement down, then tells: the caller through the finish, the handlers through delivery. */
export async function settleOperation(
  engine: EngineContext,
  operation: LiveOperation,
  { ending, persistence }: { readonly ending: Ending; readonly persistence: Persistence },
): Promise<Finish> {
  const now = engine.clock.now()
  const owed = persistence.durable && engine.handlers.owed(operation.record.name)
  const record = settle(operation.record, {
    status: ending.status,
    at: now,
    reason: ending.reason,
    effect: ending.effect,
    response: ending.response && storable(ending.response),
    failure: ending.failure,
    mayHaveRepeated: ending.mayHaveRepeated,
    deliveryDue: owed,
    expiresAt: expiryOf(engine.options, {
      ...operation.record,
      status: ending.status,
      settledAt: now,
      deliveryDue: owed,
    }),
  })
  operation.record = record
  const deliverHere = owed && engine.handlers.has(record.name)
  const written = await write(engine, operation, { persistence, deliverHere })
  if (!written && record.status !== 'succeeded') {
    engine.leases.lose(operation)
    return { is: 'lost' }
  }
  tellSettled(engine, record)
  if (persistence.durable) hint(engine, 'settled', record)
  if (deliverHere && written) {
    operation.delivered = deliver(engine, operation)
    engine.background.add(operation.delivered)
  }
  return { is: 'settled', record, rest: ending.response?.rest, cause: ending.cause }
}

/** A caller who got a 2xx is told so, whatever becomes of our notes: at worst a resume asks the server once more. */
async function write(
  engine: EngineContext,
  operation: LiveOperation,
  { persistence, deliverHere }: { persistence: Persistence; deliverHere: boolean },
): Promise<boolean> {
  try {
    return await persistence.settle(operation, { deliverHere })
  } catch (error) {
    if (operation.record.status !== 'succeeded') throw error
    reportFailure(engine, operation, error)
    return false
  }
}

/** What is told of the answer later: without its cookies and other secrets, and without a body that was too large. */
export function storable(response: TransportResponse): StoredResponse {
  const { status, statusText, headers, body, rest, url, redirected } = response
  const bodyOmitted = body === null && rest !== undefined && hasBody(rest)
  return { status, statusText, headers, body, bodyOmitted, url, redirected }
}

function hasBody(rest: AnswerRest): boolean {
  return !isResponse(rest) || rest.body !== null
}

function tellSettled(engine: EngineContext, record: OperationRecord): void {
  engine.events.tellOf(record, {
    type: 'operation.settled',
    at: record.settledAt ?? 0,
    status: record.status as SettledStatus,
    reason: record.reason,
    effect: record.effect,
    attempts: record.attemptCount,
    replayed: record.response !== undefined && isReplayed(record.response.headers),
    mayHaveRepeated: record.mayHaveRepeated,
  })
}
