/** Makes the compiler prove that a switch covers its union. */
export function unreachable(value: never): never {
  throw new TypeError(`Unexpected value: ${String(value)}`)
}
