const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** SHA-256 in hex. A platform may bring a faster one than WebCrypto's. */
export type Digest = (parts: readonly (string | Uint8Array)[]) => string | Promise<string>

/** On WebCrypto, for browsers. Each part is preceded by its length, so that no two lists of parts look alike. */
export const webDigest: Digest = async (parts) => {
  const hash = await crypto.subtle.digest('SHA-256', framed(parts))
  return hex(new Uint8Array(hash))
}

/** The parts as one byte string, each preceded by its length. */
export function framed(parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const chunks = parts.flatMap((part) => {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part
    return [encoder.encode(`${bytes.length}:`), bytes]
  })
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
