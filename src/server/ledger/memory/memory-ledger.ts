import { isThenable } from '../../../foundation/thenable.ts'
import { consumedByHolder, heldKey } from '../../entry/consumed.ts'
import { ENTRY_MOVES, ENTRY_VERSION, type Entry, type EntryMove, type RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WithoutAnswer, WorkOutcome } from '../../entry/outcome.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import type { EraseBatch, ErasedBatch } from '../../entry/upkeep.ts'
import type {
  AtomicOutcome,
  AtomicRun,
  Claim,
  EntriesQuery,
  EntryDraft,
  FoundEntry,
  LedgerStore,
  ReapOptions,
  Transaction,
} from '../port.ts'
import { MemoryMessages, type MemoryTransaction, MemoryUndo } from './memory-transaction.ts'
import { countScope, eraseScope, listEntries, memoryGauges, place } from './memory-upkeep.ts'

/** A ledger that lives as long as this object: for tests, and for trying things out. Never for production. */
export function memoryLedger(): LedgerStore<MemoryTransaction, EffectReturn> {
  return new MemoryLedger()
}

class MemoryLedger implements LedgerStore<MemoryTransaction, EffectReturn> {
  readonly name = 'memory'
  readonly #entries = new Map<string, Entry>()
  readonly #messages = new MemoryMessages()
  /** Tokens of claims whose transaction is open. */
  readonly #open = new Set<string>()
  /** Places of the atomic requests that are under way, with their fingerprints. */
  readonly #atomic = new Map<string, string>()

  async insert(draft: EntryDraft): ReturnType<LedgerStore['insert']> {
    const entry = this.#entries.get(place(draft))
    if (entry) return { kind: 'found', found: this.#found(entry, draft.now) }
    return { kind: 'inserted', claim: this.#claim(draft, 1) }
  }

  #found(entry: Entry, now: number): FoundEntry {
    return { entry: copied(entry), now, owner: this.#open.has(entry.token) ? 'alive' : 'unsure' }
  }

  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const entry = this.#entries.get(place(found))
    if (!entry || entry.token !== found.token || entry.state !== found.state) return undefined
    // Renewed since it was seen: its handler is alive.
    if (entry.leaseUntil !== found.leaseUntil || this.#open.has(entry.token)) return undefined
    if (entry.state === 'done' && entry.expiresAt > draft.now) return undefined
    return this.#claim(draft, entry.state === 'done' ? 1 : entry.attempt + 1)
  }

  async renew(claim: Claim, lease: { readonly leaseMs: number; readonly now: number }): Promise<boolean> {
    const leaseUntil = Math.max(this.#entries.get(place(claim))?.leaseUntil ?? 0, lease.now + lease.leaseMs)
    return this.#update(claim, { leaseUntil })
  }

  async complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean> {
    return this.#move(claim, 'recorded', { answer: copiedAnswer(answer), completedAt: now, unknownSince: null })
  }

  async release(claim: Claim): Promise<boolean> {
    return this.#move(claim, 'released')
  }

  async abandon(claim: Claim, now: number, since = now): Promise<boolean> {
    return this.#move(claim, 'abandoned', { unknownSince: since })
  }

  async transact(transaction: Transaction<MemoryTransaction>): Promise<Outcome> {
    const { claim, work } = transaction
    if (claim && (this.#open.has(claim.token) || !this.#update(claim, { inEffect: true }))) return { kind: 'lost' }
    const undo = new MemoryUndo()
    if (claim) this.#open.add(claim.token)
    try {
      const returned = work(undo.transaction)
      const outcome = isThenable(returned) ? await returned : returned
      return this.#end(transaction, outcome, undo)
    } catch (error) {
      undo.rollBack()
      throw error
    } finally {
      if (claim) this.#open.delete(claim.token)
    }
  }

  async atomic({ draft, mayReplace, work }: AtomicRun<MemoryTransaction>): Promise<AtomicOutcome> {
    const at = place(draft)
    const busy = this.#atomic.get(at)
    if (busy !== undefined) return { kind: 'in-flight', request: busy === draft.fingerprint ? 'same' : 'other' }
    const entry = this.#entries.get(at)
    if (entry) {
      const found = this.#found(entry, draft.now)
      if (!mayReplace(found)) return { kind: 'found', found }
    }
    const undo = new MemoryUndo()
    this.#atomic.set(at, draft.fingerprint)
    try {
      const returned = work(undo.transaction)
      const outcome = isThenable(returned) ? await returned : returned
      if (outcome.kind !== 'recorded' || outcome.writes === 'rolled-back') undo.rollBack()
      if (outcome.kind !== 'recorded') return { kind: 'released' }
      // A claim that came meanwhile has the key.
      if (this.#entries.get(at)?.token !== entry?.token) {
        undo.rollBack()
        return { kind: 'lost' }
      }
      const claim = this.#claim(draft, entry && entry.state !== 'done' ? entry.attempt + 1 : 1)
      await this.complete(claim, outcome.answer, draft.now)
      return outcome
    } catch (error) {
      undo.rollBack()
      throw error
    } finally {
      this.#atomic.delete(at)
    }
  }

  consume: LedgerStore<MemoryTransaction>['consume'] = async (message, { work }) => {
    const holder = this.#entries.get(place({ scope: message.scope, key: heldKey(message.id) }))
    return holder ? consumedByHolder(holder.state) : this.#messages.consume(message, work)
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(place({ scope, key }))
    return entry && copied(entry)
  }

  async reap({ limit, now, onAbandoned }: ReapOptions): ReturnType<LedgerStore['reap']> {
    let abandoned = 0
    let deleted = this.#messages.reap(limit, now)
    for (const [at, entry] of this.#entries) {
      if (deleted + abandoned >= limit) break
      if (this.#isExpired(entry, now)) {
        this.#entries.delete(at)
        deleted++
      } else if (entry.state === 'running' && entry.external && this.#isSilent(entry, now)) {
        this.#move(entry, 'abandoned', { unknownSince: now })
        onAbandoned?.({ ...entry, state: 'unknown', unknownSince: now })
        abandoned++
      }
    }
    return { deleted, abandoned, more: deleted + abandoned >= limit }
  }

  async *entries(query: EntriesQuery): AsyncGenerator<Entry> {
    for (const entry of listEntries(this.#entries, query)) yield copied(entry)
  }

  async stats(now: number): ReturnType<LedgerStore['stats']> {
    const entries = [...this.#entries.values()]
    const count = (state: Entry['state']): number => entries.filter((entry) => entry.state === state).length
    return {
      running: count('running'),
      done: count('done'),
      unknown: count('unknown'),
      expired: entries.filter((entry) => this.#isExpired(entry, now)).length + this.#messages.expired(now),
      messages: this.#messages.size,
    }
  }

  async gauges(now: number): ReturnType<LedgerStore['gauges']> {
    return memoryGauges(this.#entries, this.#messages.ends(), now)
  }

  async count(scope: string, atMost: number): Promise<number> {
    return countScope(this.#entries, scope, atMost)
  }

  async erase(batch: EraseBatch): Promise<ErasedBatch> {
    const { erased, left } = eraseScope(this.#entries, batch)
    return { erased: erased + this.#messages.erase(batch.scope, batch.what), left, next: undefined }
  }

  async close(): Promise<void> {}

  #claim(draft: EntryDraft, attempt: number): Claim {
    const { scope, key, token, now, leaseMs, retentionMs, fingerprint, method, path, external } = draft
    const createdAt = draft.createdAt ?? now
    const times = {
      createdAt,
      leaseUntil: now + leaseMs,
      completedAt: null,
      expiresAt: now + retentionMs,
      unknownSince: null,
    }
    const what = { scope, key, token, attempt, fingerprint, method, path, external, inEffect: false }
    this.#entries.set(place(draft), { ...what, ...times, state: 'running', answer: null, version: ENTRY_VERSION })
    return { scope, key, token, attempt }
  }

  /** Fenced by the token. False where the claim was lost, or the entry can't move so from its state. */
  #move(claim: Claim, move: EntryMove, change: Partial<Entry> = {}): boolean {
    const entry = this.#entries.get(place(claim))
    const state = entry?.token === claim.token ? ENTRY_MOVES[entry.state][move] : undefined
    if (!entry || state === undefined) return false
    if (state === 'absent') this.#entries.delete(place(claim))
    else this.#entries.set(place(claim), { ...entry, ...change, state })
    return true
  }

  /** Fenced by the token. False where the claim was lost, or the entry is no longer running. */
  #update(claim: Claim, change: Partial<Entry>): boolean {
    const entry = this.#entries.get(place(claim))
    if (entry?.token !== claim.token || entry.state !== 'running') return false
    this.#entries.set(place(claim), { ...entry, ...change })
    return true
  }

  #end({ claim, now }: Transaction<MemoryTransaction>, outcome: WorkOutcome, undo: MemoryUndo): Outcome {
    const isCommitted = outcome.kind === 'recorded' && outcome.writes === 'committed'
    if (!isCommitted) undo.rollBack()
    if (!claim || outcome.kind === 'kept') return outcome
    const change =
      outcome.kind === 'recorded'
        ? { answer: copiedAnswer(outcome.answer), completedAt: now, unknownSince: null }
        : onEnd(outcome.kind, now)
    if (this.#move(claim, outcome.kind, change)) return outcome
    undo.rollBack()
    return { kind: 'lost' }
  }

  #isSilent(entry: Entry, now: number): boolean {
    return entry.leaseUntil <= now && !this.#open.has(entry.token)
  }

  /** The next reap may delete it: nothing was done that has to be remembered. */
  #isExpired(entry: Entry, now: number): boolean {
    if (entry.state === 'done') return entry.expiresAt <= now
    return entry.state === 'running' && !entry.external && this.#isSilent(entry, now) && entry.expiresAt <= now
  }
}

function onEnd(kind: WithoutAnswer, now: number): Partial<Entry> {
  return kind === 'abandoned' ? { unknownSince: now } : {}
}

/** The caller may change the arrays that it gave or got: the stored ones stay as they are. */
function copied(entry: Entry): Entry {
  return entry.answer ? { ...entry, answer: copiedAnswer(entry.answer) } : entry
}

function copiedAnswer(answer: RecordedAnswer): RecordedAnswer {
  return { ...answer, body: answer.body ? answer.body.slice() : null }
}
