import { sha256 } from './sha256.ts'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** What is hashed: names and addresses as text, and a body. */
export type Digest = (texts: readonly string[], bytes: Uint8Array | null) => string | Promise<string>

/** SHA-256 in hex on WebCrypto, for browsers. A platform may bring a faster one. */
export const webDigest: Digest = async (texts, bytes) => {
  const whole = framed(texts, bytes)
  // A page over plain http from another machine has none.
  const subtle = crypto.subtle as SubtleCrypto | undefined
  return hex(subtle ? new Uint8Array(await subtle.digest('SHA-256', whole)) : sha256(whole))
}

const encoder = new TextEncoder()

/** All of it as one byte string: the texts as a JSON list, so that no two lists look alike, then the bytes. */
export function framed(texts: readonly string[], bytes: Uint8Array | null): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(JSON.stringify(texts))
  const whole = new Uint8Array(head.length + (bytes?.length ?? 0))
  whole.set(head)
  if (bytes) whole.set(bytes, head.length)
  return whole
}

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
