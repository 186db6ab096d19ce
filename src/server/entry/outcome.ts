import type { RecordedAnswer } from './entry.ts'

/**
 * What became of a claim: of the work's writes, of the entry, of the answer. Stores use it with the answer as it is
 * stored; the guard, with the answer as it is sent.
 *
 * | kind | the work's writes | the entry |
 * |---|---|---|
 * | `recorded` | as `writes` says | `done`, in one commit with them |
 * | `uncommitted` | in a transaction of the caller | `done` once the caller commits, else `running` |
 * | `kept` | rolled back | `running` under the same claim: what the framework answers decides |
 * | `released` | rolled back | absent: the key is free |
 * | `abandoned` | rolled back | `unknown`: something may have been done outside of the transaction |
 * | `lost` | rolled back | under the claim of another request: not changed |
 * | `in-doubt` | committed or rolled back: the store failed at the commit | only the entry shows it |
 */
export type Outcome<Answer = RecordedAnswer> =
  | { readonly kind: 'recorded'; readonly writes: 'committed' | 'rolled-back'; readonly answer: Answer }
  | { readonly kind: 'uncommitted'; readonly answer: Answer }
  | RolledBack<'kept', Answer>
  | RolledBack<'released', Answer>
  | RolledBack<'abandoned', Answer>
  | { readonly kind: 'lost' }
  | { readonly kind: 'in-doubt'; readonly error: unknown }

/** With the transient answer, or with the error that the work threw. */
interface RolledBack<Kind, Answer> {
  readonly kind: Kind
  readonly answer?: Answer
  readonly error?: unknown
}

/** The outcomes that the work itself can ask for. The other ones happen to it. */
export type WorkOutcome<Answer = RecordedAnswer> = Extract<
  Outcome<Answer>,
  { kind: 'recorded' | 'kept' | 'released' | 'abandoned' }
>

/** What becomes of an entry without a final answer. */
export type WithoutAnswer = 'released' | 'abandoned'
