/** Also a promise of another library or realm, and a handle's, which are not instances of this platform's. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
