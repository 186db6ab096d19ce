import { ConfigurationError } from '../errors/classes.ts'
import { claimUnknown } from './claim-unknown.ts'
import { isReply, type Reply } from './entry/reply.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { inDoubt } from './guard/in-doubt.ts'
import { recordedAnswer } from './guard/recorded-answer.ts'

/** Somebody knows what has happened. Only an entry that is `unknown` can be told. */
export async function resolveEntry(
  guard: GuardOptions,
  { scope, key }: { readonly scope: string; readonly key: string },
  outcome: Reply | 'rerun',
): Promise<boolean> {
  if (outcome !== 'rerun' && !isReply(outcome)) {
    throw new ConfigurationError("resolve() takes the answer as json(value, init) or reply(body, init), or 'rerun'")
  }
  const entry = await guard.store.find(scope, key)
  if (entry?.state !== 'unknown') return false
  const claim = await claimUnknown(guard, entry)
  if (!claim) return false
  const { store, clock } = guard
  const ended =
    outcome === 'rerun' ? store.release(claim) : store.complete(claim, recordedAnswer(outcome, guard), clock.now())
  return ended.catch((error: unknown) => {
    throw inDoubt(error)
  })
}
