const FEW = 2000

/** Bytes as a value that can be compared and read: one character per byte, or, where there are many, their count and hash. */
export function bytesSight(bytes: Uint8Array): string {
  if (bytes.length > FEW) return `${bytes.length} bytes, hash ${hash(bytes)}`
  return String.fromCharCode(...bytes)
}

/** FNV-1a. */
function hash(bytes: Uint8Array): string {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(16)
}

/** Headers by lower-case name; those that came more than once side by side. */
export function headersSight(pairs: Iterable<readonly [string, string]>, leftOut: Set<string>): Record<string, string> {
  const sight: Record<string, string> = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    if (leftOut.has(key)) continue
    sight[key] = key in sight ? `${sight[key]} | ${value}` : value
  }
  return sight
}
