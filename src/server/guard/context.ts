import { ConfigurationError } from '../../errors/classes.ts'
import { HoldfastError } from '../../errors/holdfast-error.ts'
import { startTimer } from '../../foundation/clock.ts'
import type { EffectReturn, Reply } from '../entry/reply.ts'
import type { TransactOptions } from '../ledger/port.ts'
import type { GuardOptions } from './guard-options.ts'
import type { ClaimedRequest } from './settle-claim.ts'

/** What a protected handler gets beside its request. */
export interface IdempotencyContext<Tx = unknown, Returned = EffectReturn> {
  /** The caller's key; undefined where the request needed none and brought none. */
  readonly key: string | undefined
  readonly scope: string | undefined
  /** Counts the claims on this key since it was last free: more than 1 where an earlier handler died. */
  readonly attempt: number
  /** Aborts when the claim is lost or after `timeout`. A caller that hangs up does not abort it. */
  readonly signal: AbortSignal
  /**
   * Does the work, records the key and the answer in one transaction. A 4xx reply rolls the work back and records the
   * answer; a 5xx reply or a throw rolls everything back and frees the key (`external`: leaves it unknown). Once per
   * request.
   *
   * @example return effect((tx) => { tx.prepare('insert …').run(amount); return json({ ok: true }, { status: 201 }) })
   */
  effect(work: (tx: Tx) => Returned, options?: TransactOptions<Tx>): Promise<Reply>
  /** A key for a call to another service, the same at each attempt of this operation: `deriveKey('charge')`. */
  deriveKey(label: string): string
  /**
   * An `external` handler declares that it has done nothing outside: a transient answer, or a throw, then frees the key
   * instead of leaving its outcome unknown. A final answer is recorded all the same. To be called before the answer, or
   * before the end of `effect`; later it is a ConfigurationError. Does nothing where the handler is not external.
   *
   * @example if (provider.isDown()) { notDone(); return json({ error: 'try again' }, { status: 503 }) }
   */
  notDone(): void
}

/**
 * Another request works on this key by now. Nothing that this handler writes through `effect` is committed; what it did
 * outside of it, and what the other handler does, is not known here.
 */
export class ClaimLostError extends HoldfastError {
  override name = 'ClaimLostError'
  constructor() {
    super('The claim on this idempotency key was lost: its lease lapsed and another request has taken it over', {
      code: 'HOLDFAST_CLAIM_LOST',
      effect: 'unknown',
      reason: 'lease-lost',
    })
  }
}

/** Its signal is made when it is first read: most handlers do without, and it costs as much as the rest of the context. */
export class LazyAborter {
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#aborted.reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason }
    this.#controller?.abort(reason)
  }
}

/** A UUID (version 8) of scope, key and label: stable over attempts, different for each label and scope. */
export function deriveKey(
  guard: Pick<GuardOptions, 'digest'>,
  request: { readonly scope: string; readonly key: string } | undefined,
  label: string,
): string {
  if (!request) {
    throw new ConfigurationError('deriveKey() needs a request that came with an idempotency key', { effect: 'unknown' })
  }
  const hex = guard.digest(['holdfast derived key', request.scope, request.key, label], null)
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/** Aborts after the option `timeout`. Returns how to cancel that. */
export function abortInTime({ clock, timeoutMs }: GuardOptions, aborter: LazyAborter): () => void {
  if (timeoutMs === undefined) return () => {}
  const abort = (): void => aborter.abort(new DOMException(`The handler took ${timeoutMs} ms`, 'TimeoutError'))
  return startTimer(clock, timeoutMs, abort)
}

interface ContextOptions extends Pick<IdempotencyContext, 'effect' | 'notDone'> {
  readonly aborter: LazyAborter
}

export function contextFor(
  guard: GuardOptions,
  claimed: ClaimedRequest | null,
  { aborter, effect, notDone }: ContextOptions,
): IdempotencyContext {
  return {
    get signal() {
      return aborter.signal
    },
    key: claimed?.request.key,
    scope: claimed?.request.scope,
    attempt: claimed?.claim.attempt ?? 1,
    effect,
    deriveKey: (label) => deriveKey(guard, claimed?.request, label),
    notDone,
  }
}
