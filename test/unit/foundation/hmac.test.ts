import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { hex } from '../../../src/foundation/digest.ts'
import { hmacSha256 } from '../../../src/foundation/hmac.ts'

it.each([0, 1, 16, 32, 63, 64, 65, 200])('is HMAC-SHA-256 for a key of %i bytes', (length) => {
  const key = Uint8Array.from({ length }, (_, index) => (index * 7) % 256)
  for (const message of ['', 'abc', 'é'.repeat(100)]) {
    expect(hex(hmacSha256(key, message))).toBe(createHmac('sha256', key).update(message).digest('hex'))
  }
})
