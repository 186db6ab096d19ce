import type { Reaped, ReapOptions } from '../port.ts'
import type { EffectFrame } from './effect-frame.ts'
import { type EntryRow, entryOf } from './entry-row.ts'

/** One batch, in one transaction. */
export function reapIn(frame: EffectFrame, { limit, now, onAbandoned }: ReapOptions): Reaped {
  const { reapMessages, reapDone, reapOver, reapSilent } = frame.statements
  let deleted = 0
  for (const statement of [reapMessages, reapDone, reapOver]) {
    deleted += statement.run({ now, limit: limit - deleted }).changes
  }
  const silent = reapSilent.all({ now, limit: limit - deleted }) as EntryRow[]
  frame.commit()
  for (const row of silent) onAbandoned?.(entryOf(row))
  return { deleted, abandoned: silent.length, more: deleted + silent.length >= limit }
}
