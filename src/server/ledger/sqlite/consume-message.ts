import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { type Consumed, consumedByHolder, heldKey } from '../../entry/consumed.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { Consumption, MessageDraft } from '../port.ts'
import { call, type EffectTransaction, isFailed, refused, type WorkEnd } from './effect-transaction.ts'
import type { SqliteEntryRow } from './ledger-rows.ts'

/** One message: its id and its work are committed together. */
export function consumeIn(
  own: EffectTransaction,
  draft: MessageDraft,
  { work }: Consumption<SqliteDatabase>,
): WorkEnd<Consumed> {
  const known = knownMessage(own, draft)
  if (known) {
    own.rollBack()
    return { result: { value: known } }
  }
  const value = call(() => work(own.database))
  try {
    if (isFailed(value)) return failed(own, draft, value.error)
    const { scope, id } = draft
    // No row: the work has rolled its id back.
    const isOurs = own.database.inTransaction && own.statements.storeValue.run({ scope, id, value }).changes === 1
    if (!isOurs) return ended(own, draft)
    own.commit()
    return { result: { value: { duplicate: false, value } } }
  } catch (error) {
    return refused(own, error)
  }
}

/** Undefined: this delivery is the first one. */
function knownMessage({ statements }: EffectTransaction, draft: MessageDraft): Consumed | undefined {
  const { scope, id, now, retentionMs } = draft
  const holder = statements.find.get({ scope, key: heldKey(id) }) as SqliteEntryRow | undefined
  if (holder) return consumedByHolder(holder.state)
  if (statements.mark.run({ scope, id, now, expiresAt: now + retentionMs }).changes === 1) return undefined
  const { value } = statements.valueOf.get({ scope, id }) as { readonly value: string | null }
  return { duplicate: true, value }
}

function failed(own: EffectTransaction, draft: MessageDraft, error: unknown): WorkEnd<Consumed> {
  const { scope, id } = draft
  const isOver = !own.database.inTransaction
  own.rollBack()
  // The id was written inside of the transaction: if it is still there, the work has committed in between.
  const isEnded = isOver && own.statements.valueOf.get({ scope, id }) !== undefined
  return isEnded ? ended(own, draft, error) : { result: { error } }
}

/** The id may be committed, and would make a duplicate of work that was not done. */
function ended(own: EffectTransaction, { scope, id }: MessageDraft, cause?: unknown): WorkEnd<Consumed> {
  own.rollBack()
  own.statements.forgetMessage.run({ scope, id })
  return { result: { error: new EndedTransactionError(cause) } }
}
