import { checkDuration, checkLabel, checkObject, refuseOption } from '../configuration/option-checks.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { HoldfastError } from '../errors/holdfast-error.ts'
import { newClaimToken } from '../foundation/identity.ts'
import { isThenable } from '../foundation/thenable.ts'
import { checkScopeName } from './check-scope-name.ts'
import { heldKey } from './entry/consumed.ts'
import { EndedTransactionError } from './entry/ended-transaction.ts'
import { refuseSealed } from './entry/sealed-answer.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { holdEntry } from './guard/hold-entry.ts'
import { inDoubt } from './guard/store-call.ts'
import type { EntryDraft } from './ledger/port.ts'
import type { Once, OnceOptions } from './ledger.ts'

const OPTIONS = ['scope', 'retention', 'transaction', 'isolation']

/** The id of a message and its work are committed together. */
export async function once<T>(
  guard: GuardOptions,
  message: { readonly id: string; readonly work: (tx: unknown) => T | Promise<T> },
  options: OnceOptions<unknown>,
): Promise<Once<T>> {
  const id = checkLabel('id', message.id)
  if (typeof message.work !== 'function') refuseOption('work', 'a function', message.work)
  if (options !== undefined) checkObject('once', options, OPTIONS)
  if (options?.scope === undefined) {
    throw new ConfigurationError('The option `scope` is missing: whose message it is, e.g. the queue, topic or tenant')
  }
  const scope = checkScopeName('scope', options.scope)
  const retentionMs =
    options.retention === undefined ? guard.retentionMs : checkDuration('retention', options.retention)
  let value: T | undefined
  let hasBegun = false
  const serialise = (result: T): string | null => {
    value = result
    try {
      return JSON.stringify(result) ?? null
    } catch (cause) {
      throw new ConfigurationError(`What the work of message ${id} returned is kept as JSON, which cannot say it`, {
        cause,
      })
    }
  }
  const consumed = await guard.store
    .consume(
      { scope, id, retentionMs, leaseMs: guard.leaseMs, now: guard.clock.now() },
      {
        work: (tx) => {
          hasBegun = true
          const result = message.work(tx)
          return isThenable(result) ? Promise.resolve(result as Promise<T>).then(serialise) : serialise(result as T)
        },
        options,
      },
    )
    .catch(async (error: unknown) => {
      if (error instanceof EndedTransactionError)
        await holdEntry(guard, messageDraft(guard, { scope, id, retentionMs }))
      throw hasBegun ? inDoubt(error) : error
    })
  if (consumed.held) throw held(scope, id)
  if (!consumed.duplicate) return { duplicate: false, value: value as T }
  if (consumed.value !== null) refuseSealed(consumed.value)
  return { duplicate: true, value: (consumed.value === null ? undefined : JSON.parse(consumed.value)) as T }
}

/** The entry that holds a message. */
function messageDraft(
  guard: GuardOptions,
  { scope, id, retentionMs }: { readonly scope: string; readonly id: string; readonly retentionMs: number },
): EntryDraft {
  return {
    ...{ scope, key: heldKey(id), fingerprint: 'message', method: 'MESSAGE', path: id, retentionMs },
    ...{ token: newClaimToken(), external: true, durable: true, leaseMs: guard.leaseMs, now: guard.clock.now() },
  }
}

function held(scope: string, id: string): HoldfastError {
  return new HoldfastError(
    `The message ${id} was not consumed: in an earlier delivery its work ended the transaction itself, and whether it was done is ` +
      `not known. Look, then decide: ledger.resolve('${scope}', '${heldKey(id)}', 'rerun'), or json({}) if it was done`,
    { code: 'HOLDFAST_MESSAGE_HELD', effect: 'unknown' },
  )
}
