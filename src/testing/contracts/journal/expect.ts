/** A promise of the contract that does not hold. */
export class ContractViolation extends Error {
  override name = 'ContractViolation'
}

export function expectThat(holds: boolean, sentence: string): void {
  if (!holds) throw new ContractViolation(sentence)
}

export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (isSame(actual, expected)) return
  throw new ContractViolation(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

export async function expectStorageError(work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const code = (error as { code?: unknown } | undefined)?.code
  expectSame(code, 'HOLDFAST_STORAGE', 'the code of the rejection')
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return isSameBytes(one, other)
  if (!isObject(one) || !isObject(other)) return Object.is(one, other)
  if (Array.isArray(one) !== Array.isArray(other) || isBytes(one) !== isBytes(other)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => name in other && isSame(one[name], other[name]))
}

function isSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, at) => byte === other[at])
}

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => (inner instanceof Uint8Array ? `bytes[${inner}]` : inner))
  return (text ?? String(value)).slice(0, 400)
}
