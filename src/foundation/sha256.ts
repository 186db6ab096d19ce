/** The first bits behind the point of the square and cube roots of the first primes. */
const STATE: number[] = []
const ROUNDS: number[] = []
for (let candidate = 2; ROUNDS.length < 64; candidate++) {
  let factor = 2
  while (candidate % factor > 0) factor++
  if (factor < candidate) continue
  if (STATE.length < 8) STATE.push((candidate ** (1 / 2) * 2 ** 32) | 0)
  ROUNDS.push((candidate ** (1 / 3) * 2 ** 32) | 0)
}

/** SHA-256 (FIPS 180-4) without WebCrypto, which a page has only over https or from its own machine. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const blocks = new DataView(new ArrayBuffer((((bytes.length + 8) >> 6) + 1) << 6))
  new Uint8Array(blocks.buffer).set(bytes)
  blocks.setUint8(bytes.length, 0x80)
  blocks.setBigUint64(blocks.byteLength - 8, BigInt(bytes.length) * 8n)
  const state = Int32Array.from(STATE)
  const words = new Int32Array(64)
  for (let at = 0; at < blocks.byteLength; at += 64) {
    for (let index = 0; index < 64; index++)
      words[index] = index < 16 ? blocks.getInt32(at + index * 4) : next(words, index)
    mix(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [index, word] of state.entries()) digest.setInt32(index * 4, word)
  return new Uint8Array(digest.buffer)
}

function next(words: Int32Array, index: number): number {
  const [early, late] = [words[index - 15] ?? 0, words[index - 2] ?? 0]
  const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
  const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
  return (words[index - 16] ?? 0) + first + (words[index - 7] ?? 0) + second
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  words.forEach((word, index) => {
    const choice = (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g))
    const first = h + choice + (ROUNDS[index] ?? 0) + word
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  })
  ;[a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word
  })
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
