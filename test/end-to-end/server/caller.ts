import { type ClientRequest, request } from 'node:http'

export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly key?: string | readonly string[]
  readonly type?: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface Got {
  readonly status: number
  /** As they came. */
  readonly fields: readonly (readonly [string, string])[]
  readonly body: Buffer
  header(name: string): string | undefined
}

/** A request past every client that would make something of it. */
export function call(origin: string, sent: Sent = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const outgoing = begin(origin, sent)
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const raw = incoming.rawHeaders
        const fields = raw.flatMap((name, at): [string, string][] =>
          at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? '']] : [],
        )
        const header = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1]
        resolve({ status: incoming.statusCode ?? 0, fields, body: Buffer.concat(chunks), header })
      })
    })
    outgoing.end(sent.body)
  })
}

/** The head is on its way; the body and the end are the caller's. */
export function begin(
  origin: string,
  { method = 'POST', path = '/orders', key, type, body, headers }: Sent,
): ClientRequest {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return request(`${origin}${path}`, {
    method,
    agent: false,
    headers: {
      ...(key === undefined ? {} : { 'idempotency-key': key as string }),
      ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      ...length,
      ...headers,
    },
  })
}

/** A promise, and how to end the wait for it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
