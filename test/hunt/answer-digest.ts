import { createHash } from 'node:crypto'

interface SeenAnswer {
  readonly status: number
  readonly contentType: string | null
  readonly location: string | null
  readonly body: Uint8Array
}

/** An answer in a few words: two are the same exactly if these are. */
export function answerDigest({ status, contentType, location, body }: SeenAnswer): string {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 24)
  return `${status} ${contentType} ${location} ${body.length} ${hash}`
}
