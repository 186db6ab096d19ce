import { oneOf, refuseOption } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { abortReason } from '../foundation/abort.ts'
import { takeTurn } from '../foundation/clock.ts'
import { checkScopeName } from './check-scope-name.ts'
import type { ErasePlace } from './entry/upkeep.ts'
import { emit } from './guard/events.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { ErasedScope, EraseOptions } from './ledger.ts'

/** Rows per batch. */
const BATCH = 1000

/** Batch after batch, so that no request waits long. What was erased before an abort stays erased. */
export async function eraseScope(guard: GuardOptions, scope: string, options: EraseOptions = {}): Promise<ErasedScope> {
  checkScopeName('scope', scope)
  const { what, signal } = readOptions('erase', options, {
    what: ['answers', oneOf('answers', 'entries')],
    signal: [undefined, checkSignal],
  })
  let [erased, left] = [0, 0]
  let after: ErasePlace | undefined
  do {
    if (signal?.aborted) throw abortReason(signal)
    const batch = await guard.store.erase({ scope, what, after, limit: BATCH })
    erased += batch.erased
    left += batch.left
    after = batch.next
    // Lets other work run between two batches.
    if (after) await takeTurn(guard.clock)
  } while (after)
  emit(guard, { type: 'scope.erased', scope, what, erased, left })
  return { erased, left }
}

function checkSignal(option: string, value: unknown): AbortSignal {
  return value instanceof AbortSignal ? value : refuseOption(option, 'an AbortSignal', value)
}
