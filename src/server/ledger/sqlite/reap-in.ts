import type { Reaped } from '../port.ts'
import type { EffectFrame } from './effect-frame.ts'

/** One batch, in one transaction. */
export function reapIn(frame: EffectFrame, { limit, now }: { readonly limit: number; readonly now: number }): Reaped {
  const { reapMessages, reapDone, reapOver, reapSilent } = frame.statements
  let deleted = 0
  for (const statement of [reapMessages, reapDone, reapOver]) {
    deleted += statement.run({ now, limit: limit - deleted }).changes
  }
  const abandoned = reapSilent.run({ now, limit: limit - deleted }).changes
  frame.commit()
  return { deleted, abandoned, more: deleted + abandoned >= limit }
}
