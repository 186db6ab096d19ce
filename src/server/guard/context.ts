import type { EffectReturn, Reply } from '../entry/reply.ts'
import type { TransactOptions } from '../ledger/port.ts'

/** What a protected handler knows of the operation that it serves. */
export interface IdempotencyContext<Tx = unknown, Returned = EffectReturn> {
  /** The caller's key; undefined where the request needed none and brought none. */
  readonly key: string | undefined
  readonly scope: string | undefined
  /** Counts the claims on this key since it was last free: more than 1 where somebody died. */
  readonly attempt: number
  /** Aborts when the claim is lost or the handler's time is over. A caller who hangs up does not abort it. */
  readonly signal: AbortSignal
  /**
   * Does the work, records the key and the answer in one transaction. A 4xx reply undoes the work and records the
   * answer; a 5xx reply or a throw undoes everything and frees the key (`external`: leaves it unknown). Once per
   * request.
   *
   * @example return effect((tx) => { tx.prepare('insert …').run(amount); return json({ ok: true }, { status: 201 }) })
   */
  effect(work: (tx: Tx) => Returned, options?: TransactOptions<Tx>): Promise<Reply>
  /** A key for a call to somebody else, the same at each attempt of this operation: `deriveKey('charge')`. */
  deriveKey(label: string): string
  /**
   * The word of an `external` handler that it has done nothing outside: an answer for now, or a throw, then frees the
   * key instead of leaving its outcome unknown. A lasting answer is recorded all the same. To be said before the answer,
   * or before the end of `effect`; later it is a ConfigurationError. Means nothing where the handler is not external.
   *
   * @example if (provider.isDown()) { notDone(); return json({ error: 'try again' }, { status: 503 }) }
   */
  notDone(): void
}
