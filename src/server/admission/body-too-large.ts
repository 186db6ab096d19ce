/** Thrown by whoever reads the body of a request that is larger than `maxRequestBytes`. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}
