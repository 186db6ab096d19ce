/** Is this answer the final word, or may the next attempt get another one? */
export type AnswerFate =
  /** Success: kept together with what was done. */
  | 'keep'
  /** A deterministic refusal: kept, and what was done is undone. */
  | 'undo'
  /** For now only: nothing is kept, and the key is free for the next attempt. */
  | 'free'

/** 4xx that speak of this moment or of who asks, not of what is asked: fresh credentials may get another answer. */
const TRANSIENT = new Set([401, 407, 408, 425, 429])

export function judgeAnswer(status: number, policy: { readonly store5xx: boolean }): AnswerFate {
  if (status < 400) return 'keep'
  if (isForNow(status) && !(policy.store5xx && status >= 500)) return 'free'
  return 'undo'
}

/** A failure of this moment, as far as its status tells. */
export function isForNow(status: number): boolean {
  return status >= 500 || TRANSIENT.has(status)
}
