import { checkDuration, checkLabel, refuse } from '../configuration/option-checks.ts'
import { isThenable } from '../foundation/thenable.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Once, OnceOptions } from './ledger.ts'

/** A message's work, done once: its id and what it did are committed together. */
export async function once<T>(
  guard: GuardOptions,
  message: { readonly id: string; readonly work: (tx: unknown) => T | Promise<T> },
  options: OnceOptions<unknown>,
): Promise<Once<T>> {
  const id = checkLabel('id', message.id)
  if (typeof message.work !== 'function') refuse('work', 'a function', message.work)
  const scope = checkLabel('scope', options?.scope)
  const retentionMs =
    options.retention === undefined ? guard.retentionMs : checkDuration('retention', options.retention)
  let value: T | undefined
  const keep = (result: T): string | null => {
    value = result
    return JSON.stringify(result) ?? null
  }
  const consumed = await guard.store.consume(
    { scope, id, retentionMs, now: guard.clock.now() },
    {
      work: (tx) => {
        const result = message.work(tx)
        return isThenable(result) ? Promise.resolve(result as Promise<T>).then(keep) : keep(result as T)
      },
      options,
    },
  )
  if (!consumed.duplicate) return { duplicate: false, value: value as T }
  return { duplicate: true, value: (consumed.value === null ? undefined : JSON.parse(consumed.value)) as T }
}
