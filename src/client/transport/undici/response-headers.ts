import type { HeaderList } from '../../../protocol/headers.ts'

/** From undici's object of lower-case names. */
export function fromHeaderObject(headers: Record<string, string | string[] | undefined>): HeaderList {
  const list: [string, string][] = []
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string') list.push([name, value])
    else if (value !== undefined) for (const single of value) list.push([name, single])
  }
  return list
}

/** From names and values in turn, as dispatchers of older undici versions give them. */
export function fromRawHeaders(raw: readonly (Uint8Array | string)[]): HeaderList {
  const list: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    list.push([latin1(raw[at]).toLowerCase(), latin1(raw[at + 1])])
  }
  return list
}

function latin1(value: Uint8Array | string | undefined): string {
  if (value === undefined || typeof value === 'string') return value ?? ''
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
}
