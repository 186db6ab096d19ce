export interface JsonText {
  /** Undefined if the value has no JSON, as `undefined` has none. */
  readonly text: string | undefined
  readonly hasBigInt: boolean
}

/** A value as `JSON.stringify` spells it. A BigInt is written as its digits, as it stood in the text that was parsed. */
export function jsonText(value: unknown): JsonText {
  try {
    return { text: JSON.stringify(value) as string | undefined, hasBigInt: false }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    try {
      return { text: written(value), hasBigInt: true }
    } catch {
      // A circle has no end, with BigInts in it or without.
      throw error
    }
  }
}

function written(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) as string | undefined
  if ('toJSON' in value && typeof value.toJSON === 'function') return written(value.toJSON())
  if (Array.isArray(value)) return `[${value.map((item) => written(item) ?? 'null').join()}]`
  const members = Object.entries(value).flatMap(([key, member]) => {
    const text = written(member)
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`]
  })
  return `{${members.join()}}`
}
