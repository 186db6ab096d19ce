/* Times, lengths and sizes as a person reads them. */

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const

/** One unit, rounded down: `3h`. */
export function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([length]) => Math.abs(ms) >= length) ?? [1, 'ms']
  return `${Math.floor(Math.abs(ms) / size)}${unit}`
}

/** From now: `3h ago`, `in 5m`. */
export function relativeText(at: number, now: number): string {
  if (Math.abs(at - now) < 1000) return 'now'
  return at < now ? `${durationText(now - at)} ago` : `in ${durationText(at - now)}`
}

export function timeText(at: number): string {
  return new Date(at).toISOString()
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** `1 operation`, `3 operations`. */
export function countText(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count} ${count === 1 ? noun : plural}`
}

/** One line, without what a terminal would take for a command. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd')
}
