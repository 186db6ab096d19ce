/** The known name that was most likely meant, or undefined where none is near. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase()
  if (wanted.length === 0 || wanted.length > 40) return undefined
  let nearest: string | undefined
  let shortest = Math.max(2, Math.ceil(wanted.length * 0.4)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < shortest) [nearest, shortest] = [candidate, distance]
  }
  return nearest ?? known.find((candidate) => overlaps(wanted, candidate.toLowerCase()))
}

/** `timeout` is far from `attemptTimeout` by letters, and `idempotencyKey` from `key`, but not by meaning. */
function overlaps(one: string, other: string): boolean {
  return Math.min(one.length, other.length) > 2 && (one.includes(other) || other.includes(one))
}

/** Levenshtein distance, with two swapped adjacent letters counting as one edit. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
        swapped ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforePrevious = previous
    previous = current
  }
  return at(previous, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
