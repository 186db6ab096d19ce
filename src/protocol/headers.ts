/** Header fields as plain values. Names are lower case; a name may occur more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** The value of a field; several fields of one name are joined as HTTP says. `name` is lower case. */
export function headerValue(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined
  for (const [candidate, value] of headers) {
    if (candidate === name) found = found === undefined ? value : `${found}, ${value}`
  }
  return found
}

/** An event stream may never end: it is handed over as it comes. */
export function isEventStream(headers: HeaderList): boolean {
  const type = headerValue(headers, 'content-type')
  return type !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(type)
}

/** True as headers say it: `true`, `1`, or the structured-field boolean `?1`. */
export function saysTrue(value: string): boolean {
  const word = value.trim().toLowerCase()
  return word === 'true' || word === '1' || word === '?1'
}
