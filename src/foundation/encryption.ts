/** Around bytes at rest. `aesGcm(key)` makes one. */
export interface Encryption {
  seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
}
