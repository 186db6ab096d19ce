import { ConfigurationError } from '../errors/classes.ts'
import type { Encryption } from '../foundation/encryption.ts'
import { secretId } from '../foundation/hmac.ts'
import type { FingerprintKey } from './entry/entry.ts'

/** At least 16 bytes, of which nobody can guess any. Of a string, its UTF-8. */
export type FingerprintSecret = Uint8Array | string

const LEAST_BYTES = 16

/** Copies of the secrets, the current one first. */
export function checkFingerprintKeys(option: string, value: unknown): readonly Uint8Array[] {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const secrets = given.map((secret) => (typeof secret === 'string' ? new TextEncoder().encode(secret) : secret))
  const fits = (secret: unknown): secret is Uint8Array => secret instanceof Uint8Array && secret.length >= LEAST_BYTES
  if (secrets.length > 0 && secrets.every(fits)) return secrets.map((secret) => secret.slice())
  // The value is not shown: it is a secret.
  throw new ConfigurationError(
    `The option \`${option}\` must be a secret of at least ${LEAST_BYTES} bytes, or an array of them with the current one first`,
  )
}

/** The user's secrets, then those of the encryption: what was stored before `fingerprintKey` was given is still compared. */
export function fingerprintKeysOf(
  secrets: readonly Uint8Array[] | undefined,
  encryption: Encryption | undefined,
  warn: (sentence: string) => void,
): readonly FingerprintKey[] {
  const derived = encryption?.fingerprintKeys?.() ?? []
  if (encryption && !secrets && derived.length === 0) warn(GUESSABLE)
  return [...(secrets ?? []), ...derived].map((secret) => ({ id: secretId(secret), secret }))
}

/** Not an error: an encryption that worked with an earlier version goes on to work. */
const GUESSABLE =
  'The ledger has an `encryption` of your own and no `fingerprintKey`: answers are encrypted, but the fingerprint of a request ' +
  'lets a reader of the store guess a short body. Give `fingerprintKey` a secret of at least 16 bytes'
