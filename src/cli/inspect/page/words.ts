import type { Effect, ViewReason } from '../../../errors/reason.ts'
import type { EntryState, OperationDetail, OperationRow, Status } from '../wire.ts'

export const STATUSES: Readonly<Record<Status, string>> = {
  pending: 'Pending',
  succeeded: 'Succeeded',
  rejected: 'Rejected',
  failed: 'Failed',
  expired: 'Expired',
  cancelled: 'Cancelled',
}

export const STATES: Readonly<Record<EntryState, string>> = { unknown: 'Unknown', running: 'Running', done: 'Done' }

const REASONS: Readonly<Record<ViewReason, string>> = {
  attempts: 'all attempts failed',
  deadline: 'deadline exceeded',
  horizon: 'horizon exceeded',
  budget: 'retry budget exhausted',
  breaker: 'circuit breaker is open',
  'do-not-retry': 'the server said not to retry',
  status: 'the server rejected it',
  aborted: 'cancelled by a caller',
  'not-replayable': 'not replayable',
  storage: 'the journal failed',
  'key-reuse': 'key reused with another request',
  'lease-lost': 'lease lost to another runner',
  auth: 'waits for credentials',
  poison: 'parked: its runner died too often',
  network: 'network error',
  lane: 'waits for its lane',
  undelivered: 'no handler has taken the settlement',
}

export function reasonText(reason: ViewReason | undefined): string | undefined {
  return reason && REASONS[reason]
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  none: 'It was not done.',
  unknown: 'It may have been done.',
  applied: 'It was done.',
}

/** What became of it, in a sentence. */
export function summary({ status, effect, inFlight, answer, attempts }: OperationDetail): string {
  const answered = answer ? ` The server answered ${answer.status}.` : ''
  if (status === 'succeeded') return `It was done.${answered}`
  if (inFlight) return 'An attempt is in flight.'
  if (status === 'pending' && attempts === 0) return 'It has not been sent yet.'
  if (status === 'pending') return `${EFFECTS[effect]} It is still pending.`
  return `${EFFECTS[effect]}${answered}`
}

export function stateText({ status, inFlight }: Pick<OperationRow, 'status' | 'inFlight'>): string {
  return inFlight && status === 'pending' ? 'In flight' : STATUSES[status]
}
