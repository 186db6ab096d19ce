/** Every third operation of a hunt has an id: it may be posted again, by anybody, and is the same operation. */
export function hasId(number: number): boolean {
  return number % 3 === 0
}
