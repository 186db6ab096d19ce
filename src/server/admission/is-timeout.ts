/** By status: Request Timeout and Gateway Timeout. */
const TIMEOUTS: ReadonlySet<number> = new Set([408, 504])

/**
 * Does this failure come from a timeout? A timeout answers in place of the handler, and so is no proof that the handler
 * has ended.
 */
export function isTimeout({ status, error }: { readonly status?: number; readonly error?: unknown }): boolean {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  return name === 'TimeoutError' || code === 'ETIMEDOUT' || (status !== undefined && TIMEOUTS.has(status))
}
