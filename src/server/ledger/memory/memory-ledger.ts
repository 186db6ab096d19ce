import { isThenable } from '../../../foundation/thenable.ts'
import { ENTRY_VERSION, type Entry, type RecordedAnswer } from '../../entry/entry.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import { type EntryEvent, nextEntryState } from '../../entry/transition.ts'
import type {
  Claim,
  EntriesQuery,
  EntryDraft,
  EntryPlace,
  LedgerStore,
  ReapOptions,
  Transacted,
  Transaction,
  Verdict,
} from '../port.ts'
import { MemoryMessages } from './memory-messages.ts'
import { type MemoryTransaction, MemoryUndo } from './memory-undo.ts'

/** A ledger that lives as long as this object: for tests, and for trying things out. Never for money. */
export function memoryLedger(): LedgerStore<MemoryTransaction, EffectReturn> {
  return new MemoryLedger()
}

class MemoryLedger implements LedgerStore<MemoryTransaction, EffectReturn> {
  readonly name = 'memory'
  readonly #entries = new Map<string, Entry>()
  readonly #messages = new MemoryMessages()
  /** Tokens of claims whose transaction is open. */
  readonly #open = new Set<string>()

  async insert(draft: EntryDraft): ReturnType<LedgerStore['insert']> {
    const entry = this.#entries.get(place(draft))
    if (entry) {
      const owner = this.#open.has(entry.token) ? 'held' : entry.inEffect ? 'gone' : 'unsure'
      return { kind: 'found', found: { entry: copied(entry), now: draft.now, owner } }
    }
    return { kind: 'inserted', claim: this.#claim(draft, 1) }
  }

  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const entry = this.#entries.get(place(found))
    if (!entry || entry.token !== found.token || entry.state !== found.state) return undefined
    // Renewed since it was seen: its runner lives.
    if (entry.leaseUntil !== found.leaseUntil || this.#open.has(entry.token)) return undefined
    if (entry.state === 'done' && entry.expiresAt > draft.now) return undefined
    nextEntryState(entry.state, entry.state === 'done' ? 'claimed' : 'taken-over')
    return this.#claim(draft, entry.state === 'done' ? 1 : entry.attempt + 1)
  }

  async renew(claim: Claim, lease: { readonly leaseMs: number; readonly now: number }): Promise<boolean> {
    return this.#change(claim, undefined, { leaseUntil: lease.now + lease.leaseMs })
  }

  async complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean> {
    return this.#change(claim, 'recorded', { answer: copiedAnswer(answer), completedAt: now })
  }

  async release(claim: Claim): Promise<boolean> {
    return this.#change(claim, 'released', {})
  }

  async abandon(claim: Claim): Promise<boolean> {
    return this.#change(claim, 'abandoned', {})
  }

  async transact(transaction: Transaction<MemoryTransaction>): Promise<Transacted> {
    const { claim, work } = transaction
    if (claim && (this.#open.has(claim.token) || !this.#change(claim, undefined, { inEffect: true }))) return 'fenced'
    const undo = new MemoryUndo()
    if (claim) this.#open.add(claim.token)
    try {
      const returned = work(undo.transaction)
      const verdict = isThenable(returned) ? await returned : returned
      return this.#end(transaction, verdict, undo)
    } catch (error) {
      undo.rollBack()
      if (claim) await (transaction.whenUndone === 'abandon' ? this.abandon(claim) : this.release(claim))
      throw error
    } finally {
      if (claim) this.#open.delete(claim.token)
    }
  }

  consume: LedgerStore<MemoryTransaction>['consume'] = (message, { work }) => this.#messages.consume(message, work)

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(place({ scope, key }))
    return entry && copied(entry)
  }

  async reap({ limit, now, onAbandoned }: ReapOptions): ReturnType<LedgerStore['reap']> {
    let abandoned = 0
    let deleted = this.#messages.reap(limit, now)
    for (const [at, entry] of this.#entries) {
      if (deleted + abandoned >= limit) break
      if (this.#isOver(entry, now)) {
        this.#entries.delete(at)
        deleted++
      } else if (entry.state === 'running' && entry.external && this.#isSilent(entry, now)) {
        this.#change(entry, 'abandoned', {})
        onAbandoned?.({ ...entry, state: 'unknown' })
        abandoned++
      }
    }
    return { deleted, abandoned, more: deleted + abandoned >= limit }
  }

  async *entries({ state, scope, after, limit = Number.POSITIVE_INFINITY }: EntriesQuery): AsyncGenerator<Entry> {
    const places = [...this.#entries.keys()]
    const start = after ? this.#behind(places, after) : 0
    let left = limit
    for (const at of places.slice(start)) {
      const entry = this.#entries.get(at)
      if (!entry || (state ?? entry.state) !== entry.state || (scope ?? entry.scope) !== entry.scope) continue
      if (left-- <= 0) return
      yield copied(entry)
    }
  }

  async stats(now: number): ReturnType<LedgerStore['stats']> {
    const entries = [...this.#entries.values()]
    const count = (state: Entry['state']): number => entries.filter((entry) => entry.state === state).length
    return {
      running: count('running'),
      done: count('done'),
      unknown: count('unknown'),
      expired: entries.filter((entry) => this.#isOver(entry, now)).length + this.#messages.expired(now),
      messages: this.#messages.size,
    }
  }

  async close(): Promise<void> {}

  /** Where it is gone, at the first that is not older. */
  #behind(places: readonly string[], after: EntryPlace): number {
    const at = places.indexOf(place(after))
    if (at !== -1) return at + 1
    const next = places.findIndex((each) => (this.#entries.get(each)?.createdAt ?? 0) >= after.createdAt)
    return next === -1 ? places.length : next
  }

  #claim(draft: EntryDraft, attempt: number): Claim {
    const { scope, key, token, now, leaseMs, retentionMs, fingerprint, method, path, external } = draft
    const createdAt = draft.createdAt ?? now
    const times = { createdAt, leaseUntil: now + leaseMs, completedAt: null, expiresAt: now + retentionMs }
    const what = { scope, key, token, attempt, fingerprint, method, path, external, inEffect: false }
    this.#entries.set(place(draft), { ...what, ...times, state: 'running', answer: null, version: ENTRY_VERSION })
    return { scope, key, token, attempt }
  }

  /** Fenced: only while the claim is the entry's own, and the entry is running; an answer may also end what is unknown. */
  #change(claim: Claim, event: EntryEvent | undefined, change: Partial<Entry>): boolean {
    const entry = this.#entries.get(place(claim))
    if (entry?.token !== claim.token) return false
    if (entry.state !== 'running' && !(entry.state === 'unknown' && event === 'recorded')) return false
    const state = event ? nextEntryState(entry.state, event) : entry.state
    if (state === 'absent') this.#entries.delete(place(claim))
    else this.#entries.set(place(claim), { ...entry, ...change, state })
    return true
  }

  async #end({ claim, now }: Transaction<MemoryTransaction>, verdict: Verdict, undo: MemoryUndo): Promise<Transacted> {
    if (verdict.kind !== 'keep') undo.rollBack()
    if (!claim) return verdict.kind === 'free' ? 'freed' : 'recorded'
    if (verdict.kind === 'free') return (await this.release(claim)) ? 'freed' : 'fenced'
    if (await this.complete(claim, verdict.answer, now)) return 'recorded'
    undo.rollBack()
    return 'fenced'
  }

  #isSilent(entry: Entry, now: number): boolean {
    return entry.leaseUntil <= now && !this.#open.has(entry.token)
  }

  /** Nothing more can come of it, and nothing was done that has to be remembered. */
  #isOver(entry: Entry, now: number): boolean {
    if (entry.state === 'done') return entry.expiresAt <= now
    if (entry.state !== 'running' || entry.external || !this.#isSilent(entry, now)) return false
    return entry.inEffect || entry.expiresAt <= now
  }
}

/** One place per scope and key; a list, so that no two pairs look alike. */
function place({ scope, key }: { readonly scope: string; readonly key: string }): string {
  return JSON.stringify([scope, key])
}

/** Nobody changes what is on record by changing what was given or taken. */
function copied(entry: Entry): Entry {
  return entry.answer ? { ...entry, answer: copiedAnswer(entry.answer) } : entry
}

function copiedAnswer(answer: RecordedAnswer): RecordedAnswer {
  return { ...answer, body: answer.body ? answer.body.slice() : null }
}
