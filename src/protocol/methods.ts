const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])
const IDEMPOTENT = new Set([...SAFE, 'PUT', 'DELETE'])

/** Changes nothing on the server, so it needs neither key nor journal. */
export function isSafeMethod(method: string): boolean {
  return SAFE.has(method)
}

/** Doing it twice is the same as doing it once, by the definition of the method. */
export function isIdempotentMethod(method: string): boolean {
  return IDEMPOTENT.has(method)
}
