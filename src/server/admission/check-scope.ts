/** What a template string or `String()` makes of a value that is not there. */
const ACCIDENTS = ['undefined', 'null', 'NaN']

/**
 * Is it a scope by accident? `tenant-undefined` is what callers without a tenant would share, and they would get each
 * other's answers. So is one that is empty, or no string at all.
 */
export function isAccidentalScope(scope: unknown): boolean {
  if (typeof scope !== 'string') return true
  const text = scope.trim()
  return text === '' || endsInObject(text) || ACCIDENTS.some((word) => endsInWord(text, word))
}

/** The word alone, or behind a separator: `nullable-co` and `annull` are names. */
function endsInWord(text: string, word: string): boolean {
  if (!text.endsWith(word)) return false
  const before = [...text.slice(0, -word.length).slice(-2)].at(-1)
  return before === undefined || !/[\p{L}\p{N}]/u.test(before)
}

/** `[object Object]`, `[object Promise]` and the like. */
function endsInObject(text: string): boolean {
  return text.endsWith(']') && text.startsWith('[object ', text.lastIndexOf('['))
}
