import type { Random } from '../foundation/random.ts'

/** Dice that fall the same way for the same seed. */
export type SeededRandom = Random & { readonly seed: number | string }

/**
 * Numbers in [0, 1) that the seed alone decides. Print `seed` when a test fails, and pass it in to see the same again.
 *
 * ```ts
 * const random = seededRandom(process.env.SEED ?? 'monday')
 * const client = createClient({ baseUrl, random }) // the same delays in every run
 * ```
 */
export function seededRandom(seed: number | string): SeededRandom {
  const next = sfc32(scatter(`${typeof seed}:${seed}`))
  return Object.assign(() => next() / 2 ** 32, { seed })
}

type State = [number, number, number, number]

/** Four words that differ in about half of their bits even where seeds are adjacent. */
function scatter(text: string): State {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return [avalanche(hash), avalanche(hash + 0x9e3779b9), avalanche(hash + 0x3c6ef372), avalanche(hash ^ 0x6a09e667)]
}

/** The finaliser of MurmurHash3: each input bit reaches each output bit. */
function avalanche(word: number): number {
  let mixed = word
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** Small Fast Counter, 32 bits: short, quick, and passes PractRand. */
function sfc32([a, b, c, counter]: State): () => number {
  const next = (): number => {
    const result = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + result
    return result >>> 0
  }
  for (let round = 0; round < 12; round++) next()
  return next
}
