import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import type { HeaderList } from '../../../protocol/headers.ts'

/** Names and values in turn, as undici takes them, with what fetch would add. */
export function toRawHeaders(headers: HeaderList): string[] {
  const raw: string[] = []
  let accept = true
  let agent = true
  let encoding: string | undefined = 'gzip, deflate, br'
  for (const [name, value] of headers) {
    if (name === 'accept') accept = false
    else if (name === 'user-agent') agent = false
    else if (name === 'accept-encoding') encoding = undefined
    else if (name === 'range' && encoding !== undefined) encoding = 'identity'
    // undici counts the bytes itself, and refuses a request where another count is given.
    else if (name === 'content-length') continue
    // The URL says it; a platform's fetch drops it too.
    else if (name === 'host') continue
    raw.push(name, value)
  }
  if (accept) raw.push('accept', '*/*')
  if (agent) raw.push('user-agent', 'holdfast')
  if (encoding !== undefined) raw.push('accept-encoding', encoding)
  return raw
}

/** A mock compares bodies with the strings that tests are written with. */
export function toWireBody(body: Uint8Array, dispatcher: Dispatcher): string | Uint8Array {
  const isMock = (dispatcher as { isMockActive?: unknown }).isMockActive === true
  return isMock && isUtf8(body) ? Buffer.from(body).toString('utf8') : body
}

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
