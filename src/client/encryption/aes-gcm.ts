import { ConfigurationError } from '../../errors/classes.ts'
import { isKeyBytes, NONCE_BYTES, secretsOf } from '../../foundation/aes-gcm-keys.ts'
import type { Encryption } from '../../foundation/encryption.ts'
import { randomBytes } from '../../foundation/random.ts'

/** The platform's CryptoKey, named by its shape: not every project has a type of that name. */
export interface CryptoKeyLike {
  readonly type: string
  readonly extractable: boolean
  readonly algorithm: object
  readonly usages: readonly string[]
}

type AesKey = Uint8Array | CryptoKeyLike

export interface BodyKeysOptions {
  /** Older keys: what they have sealed is opened, nothing is sealed with them. */
  readonly also?: readonly AesKey[] | undefined
}

/**
 * AES-GCM around bodies at rest; each body gets its own nonce, kept in front of it. A key is 16, 24 or 32 bytes, or a CryptoKey.
 * Only bytes give a secret for fingerprints: nothing can be derived from a CryptoKey that may not be exported.
 *
 * @example encryption: aesGcm(newKey, { also: [oldKey] })
 */
export function aesGcm(key: AesKey, { also = [] }: BodyKeysOptions = {}): Encryption {
  if (!(crypto.subtle as SubtleCrypto | undefined)) {
    throw new ConfigurationError('aesGcm needs WebCrypto, which a page has only over https or on localhost')
  }
  const current = importKey(key)
  const keys = [current, ...also.map(importKey)]
  const secrets = secretsOf([key, ...also])
  return {
    ...(isKeyBytes(key) && { fingerprintKeys: () => secrets }),
    async seal(bytes) {
      const iv = randomBytes(NONCE_BYTES)
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await current, bytes as BufferSource)
      const whole = new Uint8Array(NONCE_BYTES + sealed.byteLength)
      whole.set(iv)
      whole.set(new Uint8Array(sealed), NONCE_BYTES)
      return whole
    },
    async open(bytes) {
      const iv = bytes.slice(0, NONCE_BYTES)
      const sealed = bytes.slice(NONCE_BYTES)
      const opened = keys.map(async (each) => crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await each, sealed))
      return new Uint8Array(await firstOf(opened))
    },
  }
}

/** The first that succeeds, or else the first error: that of the current key. */
async function firstOf<T>(tries: readonly Promise<T>[]): Promise<T> {
  const ended = await Promise.allSettled(tries)
  const opened = ended.find((one) => one.status === 'fulfilled')
  return opened ? opened.value : (tries[0] as Promise<T>)
}

function importKey(key: AesKey): Promise<CryptoKey> {
  if (isCryptoKey(key)) return Promise.resolve(key)
  if (!isKeyBytes(key)) {
    throw new ConfigurationError(
      'aesGcm takes a CryptoKey that encrypts and decrypts with AES-GCM, or a key of 16, 24 or 32 bytes. A password is neither: derive a key from it, with scrypt or PBKDF2.',
    )
  }
  const imported = crypto.subtle.importKey('raw', key.slice(), 'AES-GCM', false, ['encrypt', 'decrypt'])
  // `seal` and `open` await it: they report the failure, so it is no unhandled rejection.
  imported.catch(() => {})
  return imported
}

function isCryptoKey(key: unknown): key is CryptoKey {
  const { algorithm, usages } = (key ?? {}) as Partial<CryptoKey>
  return algorithm?.name === 'AES-GCM' && ['encrypt', 'decrypt'].every((usage) => usages?.includes(usage as KeyUsage))
}
