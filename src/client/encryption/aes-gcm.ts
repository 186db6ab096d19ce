import { ConfigurationError } from '../../errors/classes.ts'
import { type Encryption, fingerprintKeyOf } from '../../foundation/encryption.ts'
import { randomBytes } from '../../foundation/random.ts'

const NONCE_BYTES = 12

/** The platform's CryptoKey, named by its shape: not every project has a type of that name. */
export interface CryptoKeyLike {
  readonly type: string
  readonly extractable: boolean
  readonly algorithm: object
  readonly usages: readonly string[]
}

/** AES-GCM around bodies at rest; each body gets its own nonce, kept in front of it. The key is 16, 24 or 32 bytes, or a CryptoKey. */
export function aesGcm(key: Uint8Array | CryptoKeyLike): Encryption {
  if (!(crypto.subtle as SubtleCrypto | undefined)) {
    throw new ConfigurationError('aesGcm needs WebCrypto, which a page has only over https or on localhost')
  }
  const imported = importKey(key)
  // `seal` and `open` await it: they report the failure, so it is no unhandled rejection.
  imported.catch(() => {})
  // Nothing can be derived from a CryptoKey that may not be exported.
  const derived = key instanceof Uint8Array ? [fingerprintKeyOf(key)] : undefined
  return {
    ...(derived && { fingerprintKeys: () => derived }),
    async seal(bytes) {
      const iv = randomBytes(NONCE_BYTES)
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await imported, bytes as BufferSource)
      const whole = new Uint8Array(NONCE_BYTES + sealed.byteLength)
      whole.set(iv)
      whole.set(new Uint8Array(sealed), NONCE_BYTES)
      return whole
    },
    async open(bytes) {
      const iv = bytes.slice(0, NONCE_BYTES)
      const opened = await crypto.subtle.decrypt(
        { name: 'AES-GCM', iv },
        await imported,
        bytes.slice(NONCE_BYTES) as BufferSource,
      )
      return new Uint8Array(opened)
    },
  }
}

function importKey(key: Uint8Array | CryptoKeyLike): Promise<CryptoKey> {
  if (isCryptoKey(key)) return Promise.resolve(key)
  if (!(key instanceof Uint8Array) || ![16, 24, 32].includes(key.length)) {
    throw new ConfigurationError(
      'aesGcm takes a CryptoKey that encrypts and decrypts with AES-GCM, or a key of 16, 24 or 32 bytes. A password is neither: derive a key from it, with scrypt or PBKDF2.',
    )
  }
  return crypto.subtle.importKey('raw', key.slice(), 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function isCryptoKey(key: unknown): key is CryptoKey {
  const { algorithm, usages } = (key ?? {}) as Partial<CryptoKey>
  return algorithm?.name === 'AES-GCM' && ['encrypt', 'decrypt'].every((usage) => usages?.includes(usage as KeyUsage))
}
