import type { Entry } from '../../entry/entry.ts'
import type { EraseBatch, ErasedBatch, LedgerGauges } from '../../entry/upkeep.ts'
import type { EntriesQuery, EntryPlace } from '../port.ts'

/* What an operator asks of a ledger in memory. Every entry is looked at: it is for tests. */

type Entries = Map<string, Entry>

/** As a list, so that no two pairs of scope and key give the same text. */
export function place({ scope, key }: { readonly scope: string; readonly key: string }): string {
  return JSON.stringify([scope, key])
}

/** Each is read when it is asked for. */
export function* listEntries(entries: Entries, query: EntriesQuery): Generator<Entry> {
  const { state, scope, after, limit = Number.POSITIVE_INFINITY } = query
  const places = [...entries.keys()]
  const start = after ? behind(entries, places, after) : 0
  let left = limit
  for (const at of places.slice(start)) {
    const entry = entries.get(at)
    if (!entry || (state ?? entry.state) !== entry.state || (scope ?? entry.scope) !== entry.scope) continue
    if (left-- <= 0) return
    yield entry
  }
}

/** Where the entry was deleted, at the first that is not older. */
function behind(entries: Entries, places: readonly string[], after: EntryPlace): number {
  const at = places.indexOf(place(after))
  if (at !== -1) return at + 1
  const next = places.findIndex((each) => (entries.get(each)?.createdAt ?? 0) >= after.createdAt)
  return next === -1 ? places.length : next
}

/** `messageEnds`: when the retention of each message ends. */
export function memoryGauges(entries: Entries, messageEnds: readonly number[], now: number): LedgerGauges {
  const all = [...entries.values()]
  const unknownSince = all.flatMap((entry) => entry.unknownSince ?? [])
  const ends = all.filter(({ state }) => state === 'done').map(({ expiresAt }) => expiresAt)
  return {
    at: now,
    entries: all.length,
    unknown: unknownSince.length,
    oldestUnknownAt: earliest(unknownSince),
    oldestExpiresAt: earliest([...ends, ...messageEnds]),
  }
}

/** Undefined where there is none. */
function earliest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : times.reduce((first, time) => Math.min(first, time))
}

export function countScope(entries: Entries, scope: string, atMost: number): number {
  let count = 0
  for (const entry of entries.values()) if (entry.scope === scope) count++
  return Math.min(count, atMost)
}

/** All of it at once. */
export function eraseScope(entries: Entries, { scope, what }: EraseBatch): Omit<ErasedBatch, 'next'> {
  let [erased, left] = [0, 0]
  for (const [at, entry] of entries) {
    if (entry.scope !== scope) continue
    if (entry.state !== 'done') left++
    else if (what === 'entries' ? entries.delete(at) : eraseAnswer(entries, at, entry)) erased++
  }
  return { erased, left }
}

/** False where there is nothing to erase. */
function eraseAnswer(entries: Entries, at: string, entry: Entry): boolean {
  const { answer } = entry
  if (!answer || (answer.body === null && answer.headers.length === 0)) return false
  entries.set(at, { ...entry, answer: { ...answer, headers: [], body: null, bodyOmitted: true } })
  return true
}
