import { hmacSha256 } from './hmac.ts'

/** Around bytes at rest. `aesGcm(key)` makes one. */
export interface Encryption {
  seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /**
   * Secrets that are derived from its keys, that of the current key first. With them a digest beside what is sealed does
   * not let anybody guess what it says. `aesGcm(key)` has them.
   */
  fingerprintKeys?(): readonly Uint8Array[]
}

/** The secret for fingerprints that belongs to a key of an encryption. */
export function fingerprintKeyOf(key: Uint8Array): Uint8Array {
  return hmacSha256(key, 'holdfast fingerprint')
}
