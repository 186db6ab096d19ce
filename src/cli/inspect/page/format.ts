const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]

/** In its largest unit: `3 min`, `250 ms`. */
export function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1]
  const value = ms / size
  const digits = unit === 's' && value < 10 ? 1 : 0
  return `${value.toFixed(digits).replace(/\.0$/, '')} ${unit}`
}

/** How long ago; without parts of a second, which would change all the time. */
export function ago(at: number, now: number): string {
  const ms = now - at
  return ms < 1000 ? 'now' : `${duration(Math.floor(ms / 1000) * 1000)} ago`
}

/** When something is due. */
export function until(at: number, now: number): string {
  const ms = at - now
  return ms < 1000 ? 'now' : `in ${duration(Math.ceil(ms / 1000) * 1000)}`
}

/** With the date, and to the second. */
export function moment(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}

/** `100+` where no more were counted. */
export function counted(count: number, countedTo: number): string {
  return count >= countedTo ? `${countedTo}+` : String(count)
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} ${count === 1 ? 'byte' : 'bytes'}`
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 ** 2).toFixed(1)} MiB`
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
