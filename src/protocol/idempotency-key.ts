export type KeyFormat = 'bare' | 'structured'

/** 1 to 255 visible ASCII characters. No blanks, so that two fields joined as `a, b` are never taken for a key. */
const VISIBLE = /^[\x21-\x7e]{1,255}$/

/** A structured-field string: visible ASCII and blanks, where only `"` and `\` are escaped. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

export function isValidKey(key: unknown): key is string {
  return typeof key === 'string' && VISIBLE.test(key)
}

/** The key as a header value. A key that itself begins with a quote is always quoted: bare, it would read as another key. */
export function formatKey(key: string, format: KeyFormat): string {
  return format === 'structured' || key.startsWith('"') ? `"${key.replace(/["\\]/g, '\\$&')}"` : key
}

/** The key in a header value, bare or quoted, or undefined where it is malformed: lists, parameters, blanks inside. */
export function parseKey(value: string): string | undefined {
  const text = value.replace(/^[ \t]+|[ \t]+$/g, '')
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') : text
  return isValidKey(key) ? key : undefined
}
