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

export function tellOfEntry(guard: Observed, { scope, key, method, path }: KeyRequest, event: EntryEvent): void {
  tell(guard, { ...event, scope, key, method, path } as Without<LedgerEvent, 'at'>)
}
