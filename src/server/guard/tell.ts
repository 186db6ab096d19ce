import type { KeyRequest } from './claim-key.ts'
import type { LedgerEvent } from './event.ts'
import type { GuardOptions } from './guard-options.ts'

type Observed = Pick<GuardOptions, 'observe' | 'clock'>

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never

/** An observer must not be able to break a request. */
export function tell(guard: Observed, event: Without<LedgerEvent, 'at'>): void {
  try {
    guard.observe?.({ ...event, at: guard.clock.now() } as LedgerEvent)
  } catch {
    // Theirs.
  }
}

type EntryEvent = Without<Extract<LedgerEvent, { key: string }>, 'at' | 'scope' | 'key' | 'method' | 'path'>

/** With these a claim has ended: a request of this process that waits for its key looks at once. */
const ENDS: readonly string[] = ['entry.recorded', 'entry.released', 'entry.abandoned']

export function tellOfEntry(
  guard: Observed & Pick<GuardOptions, 'waiters'>,
  request: KeyRequest,
  event: EntryEvent,
): void {
  const { scope, key, method, path } = request
  if (ENDS.includes(event.type)) guard.waiters.wake(request)
  tell(guard, { ...event, scope, key, method, path } as Without<LedgerEvent, 'at'>)
}
