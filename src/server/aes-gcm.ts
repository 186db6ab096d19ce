import { createCipheriv, createDecipheriv } from 'node:crypto'
import { ConfigurationError } from '../errors/classes.ts'
import { isKeyBytes, NONCE_BYTES, secretsOf } from '../foundation/aes-gcm-keys.ts'
import { randomBytes } from '../foundation/random.ts'

const TAG_BYTES = 16

export interface AesGcmOptions {
  /** Older keys: what they have sealed is opened, nothing is sealed with them. */
  readonly also?: readonly Uint8Array[] | undefined
  /**
   * What was recorded without encryption is refused with 503 instead of being replayed. For a ledger that has encrypted for
   * longer than its retention: without it, whoever can write the table can put an answer of their own in place of a sealed
   * one. Default `false`.
   */
  readonly only?: boolean | undefined
}

/** An encryption that does not wait, so that it works inside of transactions of SQLite. */
export interface SynchronousEncryption {
  readonly only: boolean
  seal(bytes: Uint8Array): Uint8Array
  open(bytes: Uint8Array): Uint8Array
  /** Secrets that are derived from its keys, for the fingerprints of requests. */
  fingerprintKeys(): readonly Uint8Array[]
}

/**
 * AES-GCM around recorded answers: a nonce of 12 bytes, the ciphertext, a tag of 16 bytes, as the client's `aesGcm` has
 * it. A key is 16, 24 or 32 bytes.
 *
 * @example encryption: aesGcm(newKey, { also: [oldKey] })
 */
export function aesGcm(key: Uint8Array, { also = [], only = false }: AesGcmOptions = {}): SynchronousEncryption {
  const keys = [key, ...also].map(checkedKey)
  if (typeof only !== 'boolean') throw new ConfigurationError('The option `only` of aesGcm must be true or false')
  return {
    only,
    seal: (bytes) => sealWith(keys[0] as Uint8Array, bytes),
    open: (bytes) => {
      const errors: unknown[] = []
      for (const each of keys) {
        try {
          return openWith(each, bytes)
        } catch (error) {
          errors.push(error)
        }
      }
      throw errors[0]
    },
    fingerprintKeys: () => secretsOf(keys),
  }
}

function sealWith(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(cipherOf(key), key, nonce)
  const sealed = [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]
  return new Uint8Array(Buffer.concat(sealed))
}

function openWith(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const tagAt = Math.max(NONCE_BYTES, bytes.length - TAG_BYTES)
  const decipher = createDecipheriv(cipherOf(key), key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(tagAt))
  return new Uint8Array(Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, tagAt)), decipher.final()]))
}

function cipherOf(key: Uint8Array): 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' {
  return key.length === 16 ? 'aes-128-gcm' : key.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm'
}

function checkedKey(key: Uint8Array): Uint8Array {
  if (isKeyBytes(key)) return key.slice()
  throw new ConfigurationError(
    'aesGcm takes keys of 16, 24 or 32 bytes. A password is none: derive a key from it, with scrypt or PBKDF2',
  )
}
