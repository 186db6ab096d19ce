/** What a client costs and what it gets done. */
export interface CostAndGain {
  readonly requests: number
  readonly success: number
}

/** Less than this is chance. */
const NOTICEABLE = 0.0005

/** Has `one` both more success and fewer requests than `other`? */
export function beats(one: CostAndGain, other: CostAndGain): boolean {
  return one.success > other.success + NOTICEABLE && one.requests < other.requests - NOTICEABLE
}

/** Those to which no other is better in one and at least as good in the other, from the cheapest on. */
export function frontOf<Point extends CostAndGain>(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((one, other) => one.requests - other.requests || other.success - one.success)
  const front: Point[] = []
  for (const point of sorted) {
    if (point.success > (front.at(-1)?.success ?? -1) + NOTICEABLE) front.push(point)
  }
  return front
}
