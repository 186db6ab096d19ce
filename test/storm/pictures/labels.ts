/* Names beside points: near enough to see what they belong to, and not on top of each other. All in pixels. */

export interface Named {
  readonly x: number
  readonly y: number
  readonly name: string
  /** Has a label of its own, whatever is next to it. */
  readonly isAlone: boolean
}

export interface Panel extends Size {
  /** A line from point to point that labels keep away from, if they can. */
  readonly line: readonly Spot[]
}

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Label {
  readonly text: string
  /** The middle of the text. */
  readonly x: number
  readonly y: number
  /** The middle of its first line, from which a text is drawn. */
  readonly firstLineY: number
  /** The point that it belongs to. */
  readonly of: { readonly x: number; readonly y: number }
  /** Is it so far away that a line must lead there? */
  readonly isFar: boolean
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export type Spot = Pick<Named, 'x' | 'y'>

/** Points that are nearer to each other look like one. */
const SAME_PX = 7
const LETTER_PX = 5.7
const LINE_PX = 11
const LONGEST_LINE = 26
const MOST_NAMES = 6
const POINT_PX = 5
const FAR_PX = 14
const DISTANCES: readonly number[] = [8, 12, 18, 26, 36, 48, 62, 78, 96, 116, 138, 162]
const DIRECTIONS = 24

/** In the order of the points: the first ones get the best places. A name that fits nowhere is left out. */
export function placeLabels(points: readonly Named[], panel: Panel): Label[] {
  const taken: Box[] = points.map((point) => around(point, { width: 2 * POINT_PX, height: 2 * POINT_PX }))
  const line = panel.line.slice(1).flatMap((to, index) => alongLine(panel.line[index] ?? to, to))
  const labels: Label[] = []
  for (const { x, y, names } of clustersOf(points)) {
    const text = wrapped(names)
    const size = sizeOf(text)
    const isFree = (spot: Spot, obstacles: readonly Box[]): boolean => {
      const box = around(spot, size)
      return isInside(box, panel) && !hits(obstacles, [box])
    }
    const isReached = (spot: Spot): boolean => !hits(taken, pathTo({ x, y }, spot, size))
    const spots = spotsAround({ x, y }, size)
    const spot =
      spots.find((one) => isFree(one, [...taken, ...line]) && isReached(one)) ??
      spots.find((one) => isFree(one, taken) && isReached(one)) ??
      spots.find((one) => isFree(one, taken))
    if (!spot) continue
    const path = pathTo({ x, y }, spot, size)
    taken.push(around(spot, size), ...path)
    const firstLineY = spot.y - (size.height - LINE_PX) / 2
    labels.push({ text, ...spot, firstLineY, of: { x, y }, isFar: path.length > 0 })
  }
  return labels
}

interface Cluster extends Spot {
  readonly names: string[]
  readonly isAlone: boolean
}

function clustersOf(points: readonly Named[]): Cluster[] {
  const clusters: Cluster[] = []
  for (const { x, y, name, isAlone } of points) {
    const near = clusters.find((other) => !other.isAlone && Math.hypot(other.x - x, other.y - y) < SAME_PX)
    if (near && !isAlone) near.names.push(name)
    else clusters.push({ x, y, names: [name], isAlone })
  }
  return clusters
}

function wrapped(names: readonly string[]): string {
  const lines: string[] = []
  const shown =
    names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES - 1), `${names.length - MOST_NAMES + 1} more`] : names
  for (const name of shown) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length + 2 <= LONGEST_LINE)
      lines[lines.length - 1] = `${last}, ${name}`
    else lines.push(name)
  }
  return lines.join(',\n')
}

function sizeOf(text: string): Size {
  const lines = text.split('\n')
  return { width: Math.max(...lines.map(({ length }) => length)) * LETTER_PX, height: lines.length * LINE_PX }
}

/** The middles of texts whose edge has one of the distances, the nearest first. */
function spotsAround({ x, y }: Spot, { width, height }: Size): Spot[] {
  return DISTANCES.flatMap((distance) =>
    Array.from({ length: DIRECTIONS }, (_, index) => {
      const angle = (2 * Math.PI * index) / DIRECTIONS
      const [right, down] = [Math.cos(angle), Math.sin(angle)]
      return { x: x + right * (distance + width / 2), y: y + down * (distance + height / 2) }
    }),
  )
}

/** What a line to a far label runs over, but for its ends, which are taken anyway; nothing where it needs none. */
function pathTo(from: Spot, to: Spot, size: Size): Box[] {
  const end = edgeTowards(from, to, size)
  return Math.hypot(end.x - from.x, end.y - from.y) < FAR_PX ? [] : alongLine(from, end).slice(2, -1)
}

const STEP_PX = 4

function alongLine(from: Spot, to: Spot): Box[] {
  const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / STEP_PX))
  return Array.from({ length: steps + 1 }, (_, step) => {
    const spot = { x: from.x + ((to.x - from.x) * step) / steps, y: from.y + ((to.y - from.y) * step) / steps }
    return around(spot, { width: 2, height: 2 })
  })
}

/** Where a line from outside meets the box of a text. */
function edgeTowards(from: Spot, to: Spot, size: Size): Spot {
  const [dx, dy] = [from.x - to.x, from.y - to.y]
  const part = Math.min(
    1,
    size.width / 2 / Math.max(1e-9, Math.abs(dx)),
    size.height / 2 / Math.max(1e-9, Math.abs(dy)),
  )
  return { x: to.x + dx * part, y: to.y + dy * part }
}

/** Where the line to a far label ends. */
export function edgeOf({ text, x, y, of }: Label): Spot {
  return edgeTowards(of, { x, y }, sizeOf(text))
}

function around({ x, y }: Spot, { width, height }: Size): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 }
}

function isInside({ left, right, top, bottom }: Box, { width, height }: Size): boolean {
  return left >= 2 && right <= width - 2 && top >= 2 && bottom <= height - 2
}

function hits(taken: readonly Box[], boxes: readonly Box[]): boolean {
  return boxes.some((one) => taken.some((other) => overlap(one, other)))
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}
