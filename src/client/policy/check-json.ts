import { refuseOption } from '../../configuration/option-checks.ts'

/** Deeper than this is a circle, or a mistake. */
const DEEPEST = 64

/** Refuses what JSON would change or lose: dates, maps, NaN, functions, circles. `path` names the culprit. */
export function checkJson(path: string, value: unknown): void {
  checkValue(path, value, 0)
}

function checkValue(path: string, value: unknown, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (Number.isFinite(value)) return
  if (depth >= DEEPEST) refuseOption(path, 'JSON that is not circular and not nested so deep', value)
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) checkValue(`${path}[${index}]`, member, depth + 1)
    return
  }
  if (!isPlain(value))
    refuseOption(path, 'JSON: strings, finite numbers, booleans, null, arrays and plain objects', value)
  for (const [name, member] of Object.entries(value as object)) {
    // JSON leaves such a member out, and so do we.
    if (member !== undefined) checkValue(depth < 3 ? `${path}.${name}` : path, member, depth + 1)
  }
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm (a worker, a frame, a test runner's context) has another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
