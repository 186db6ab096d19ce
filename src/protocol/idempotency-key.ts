export type KeyFormat = 'bare' | 'structured'

/** 1 to 255 visible ASCII characters. No blanks, so that two fields joined as `a, b` are never taken for a key. */
const VISIBLE = /^[\x21-\x7e]{1,255}$/

/** A structured-field string: visible ASCII and blanks, where only `"` and `\` are escaped. */
const STRING = String.raw`"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"`
/** A structured-field parameter. What it says is not looked at, so its value may be of any type that fits. */
const PARAMETER = String.raw`; *[a-z*][a-z\d_.*-]*(?:=(?:${STRING}|[\w!#$%&'*+.^${'`'}|~:/?=-]+))?`
const QUOTED = new RegExp(`^${STRING}(?:${PARAMETER})*$`)

const LONGEST = 255
/** A field with a key of 255 escaped characters and some parameters. A longer one is refused before it is looked at. */
const LONGEST_FIELD = 2048

export function isValidKey(key: unknown): key is string {
  return typeof key === 'string' && VISIBLE.test(key)
}

/** The key as a header value. Quoted where it must be: bare, a leading quote or a blank would read as something else. */
export function formatKey(key: string, format: KeyFormat): string {
  const isQuoted = format === 'structured' || key.startsWith('"') || key.includes(' ')
  return isQuoted ? `"${key.replace(/["\\]/g, '\\$&')}"` : key
}

/** Without the blanks that HTTP allows around a value. A pattern for those at the end would try each blank inside. */
function withoutBlanks(value: string): string {
  let [start, end] = [0, value.length]
  while (isBlank(value[start])) start++
  while (end > start && isBlank(value[end - 1])) end--
  return value.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}

/** The key in a header value, bare or as a structured-field string, or undefined where it is malformed or a list. */
export function parseKey(value: string): string | undefined {
  if (value.length > LONGEST_FIELD) return undefined
  const text = withoutBlanks(value)
  if (!text.startsWith('"')) return isValidKey(text) ? text : undefined
  const key = QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? ''
  return key.length > 0 && key.length <= LONGEST ? key : undefined
}
