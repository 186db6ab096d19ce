/** A number in [0, 1). Injected wherever dice are rolled, so that a seed replays a history. */
export type Random = () => number

/** Spreads delays. Never used for keys: those come from a cryptographic source, see identity.ts. */
export const systemRandom: Random = () => Math.random()

/** Cryptographic randomness, for nonces. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}
