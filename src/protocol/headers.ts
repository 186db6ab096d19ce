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
