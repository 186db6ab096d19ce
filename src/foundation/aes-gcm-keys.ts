import { fingerprintKeyOf } from './encryption.ts'

/*
 * What both halves have in common: `aesGcm` of the client waits for WebCrypto, that of the server does not wait, so that it
 * works inside of transactions of SQLite. Format, lengths of keys and their rotation are the same: each opens what the other
 * has sealed.
 */

export const NONCE_BYTES = 12

export function isKeyBytes(key: unknown): key is Uint8Array {
  return key instanceof Uint8Array && [16, 24, 32].includes(key.length)
}

/** Copies: the caller may wipe its own. */
export function secretsOf(keys: readonly unknown[]): readonly Uint8Array[] {
  return keys.filter(isKeyBytes).map(fingerprintKeyOf)
}
