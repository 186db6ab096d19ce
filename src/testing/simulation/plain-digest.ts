import type { Digest } from '../../foundation/digest.ts'

/** Readable in a trace, and without the colon that marks a fingerprint made with a secret. */
export const plainDigest: Digest = (texts, bytes) =>
  withoutColons(`${texts.join(' ')} ${bytes?.length ?? 0} ${bytes ? String.fromCharCode(...bytes) : ''}`)

export function withoutColons(text: string): string {
  return text.replaceAll(':', ';')
}
