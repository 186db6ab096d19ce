/** Every third operation of a hunt has an id: it may be posted again, by anybody, and is the same operation. */
export function hasId(number: number): boolean {
  return number % 3 === 0
}

/** Every seventh without an id may give up: what its caller is told then has to be true for ever. */
export function mayGiveUp(number: number): boolean {
  return number % 7 === 1 && !hasId(number)
}
