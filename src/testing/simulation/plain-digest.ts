import type { Digest } from '../../foundation/digest.ts'

/** Readable in a trace, and without the colon that marks a fingerprint made with a secret. */
export const plainDigest = ((texts, bytes) =>
  `${texts.join(' ')} ${bytes?.length ?? 0} ${bytes ? String.fromCharCode(...bytes) : ''}`.replaceAll(
    ':',
    ';',
  )) satisfies Digest
