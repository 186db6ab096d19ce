import type { HeaderList } from '../../../protocol/headers.ts'

/** Names and values in turn, as undici takes them, with what fetch would add. */
export function requestHeaders(headers: HeaderList): string[] {
  const flat: string[] = []
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
    flat.push(name, value)
  }
  if (accept) flat.push('accept', '*/*')
  if (agent) flat.push('user-agent', 'holdfast')
  if (encoding !== undefined) flat.push('accept-encoding', encoding)
  return flat
}
