/** What RFC 9110 lets the name of a method or a header be made of. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/

export function isToken(value: unknown): value is string {
  return typeof value === 'string' && TOKEN.test(value)
}
