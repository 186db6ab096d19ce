import { hex } from './digest.ts'
import { sha256 } from './sha256.ts'

const BLOCK_BYTES = 64
const encoder = new TextEncoder()

/** HMAC-SHA-256 (RFC 2104) without waiting, on every platform. For short messages. */
export function hmacSha256(key: Uint8Array, message: string): Uint8Array {
  const padded = new Uint8Array(BLOCK_BYTES)
  padded.set(key.length > BLOCK_BYTES ? sha256(key) : key)
  const inner = sha256(behind(padded, 0x36, encoder.encode(message)))
  return sha256(behind(padded, 0x5c, inner))
}

/** Enough to tell a handful of secrets apart. */
const ID_LENGTH = 8

/** A name for a secret that stands beside what was made with it, and says nothing about it. */
export function secretId(secret: Uint8Array): string {
  return hex(hmacSha256(secret, 'holdfast fingerprint key id')).slice(0, ID_LENGTH)
}

/** The message behind the key, of which each byte is changed by the pad. */
function behind(key: Uint8Array, pad: number, message: Uint8Array): Uint8Array {
  const whole = new Uint8Array(BLOCK_BYTES + message.length)
  for (const [index, byte] of key.entries()) whole[index] = byte ^ pad
  whole.set(message, BLOCK_BYTES)
  return whole
}
