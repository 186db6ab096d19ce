import { asStorageError } from './as-storage-error.ts'

/** How bodies are made unreadable and readable again. */
interface Cipher {
  seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
}

/** The caller's encryption around bodies at rest; without one, bodies are kept as they are. */
export class BodySeal {
  readonly #encryption: Cipher | undefined

  constructor(encryption: Cipher | undefined) {
    this.#encryption = encryption
  }

  /** Are bodies kept as they are? Then nothing has to be waited for. */
  get isOpen(): boolean {
    return this.#encryption === undefined
  }

  async seal(bytes: Uint8Array | null): Promise<Uint8Array | null> {
    if (!bytes || !this.#encryption) return bytes
    try {
      return await this.#encryption.seal(bytes)
    } catch (error) {
      throw asStorageError(error, 'The body could not be sealed', 'none')
    }
  }

  async open(bytes: Uint8Array | null): Promise<Uint8Array | null> {
    return bytes && this.#encryption ? this.#encryption.open(bytes) : bytes
  }
}
