import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { AtomicOutcome, AtomicRun } from '../port.ts'
import { call, type EffectTransaction, isFailed, refused, type WorkEnd } from './effect-transaction.ts'
import { foundBy, putBindings, type SqliteEntryRow } from './ledger-rows.ts'

/** A request from the look at its key to COMMIT or ROLLBACK, without an await in between. */
export function atomicIn(
  own: EffectTransaction,
  { draft, mayReplace, work }: AtomicRun<SqliteDatabase>,
  owner: string,
): WorkEnd<AtomicOutcome> {
  const { scope, key } = draft
  const row = own.statements.find.get({ scope, key }) as SqliteEntryRow | undefined
  const found = row && foundBy(row, draft.now)
  if (found && !mayReplace(found)) {
    own.rollBack()
    return { result: { value: { kind: 'found', found } } }
  }
  const returned = call(() => work(own.database))
  try {
    const thrown = isFailed(returned) ? returned.error : undefined
    if (!own.database.inTransaction) return { result: { error: new EndedTransactionError(thrown) } }
    if (isFailed(returned)) {
      own.rollBack()
      return { result: { error: thrown } }
    }
    if (returned.kind !== 'recorded') {
      own.rollBack()
      return { result: { value: { kind: 'released' } } }
    }
    const put = putBindings(draft, { owner, answer: returned.answer, seenToken: found?.entry.token ?? null })
    if (returned.writes === 'rolled-back') {
      own.rollBack()
      own.begin()
    }
    const isPut = own.statements.put.run(put).changes === 1
    if (isPut) own.commit()
    else own.rollBack()
    return { result: { value: isPut ? returned : { kind: 'lost' } } }
  } catch (error) {
    return refused(own, error)
  }
}
