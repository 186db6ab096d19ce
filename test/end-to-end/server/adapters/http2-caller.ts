import { connect } from 'node:http2'
import type { Got, Sent } from '../caller.ts'

/** A request over a connection of its own. */
export function callHttp2(origin: string, sent: Sent): Promise<Got> {
  const { method = 'POST', path = '/orders', key, type = 'application/json', body, headers } = sent
  return new Promise((resolve, reject) => {
    const client = connect(origin)
    client.on('error', reject)
    const stream = client.request({
      ':method': method,
      ':path': path,
      ...(key === undefined ? {} : { 'idempotency-key': key as string }),
      ...(body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
      ...headers,
    })
    const chunks: Buffer[] = []
    let fields: [string, string][] = []
    stream.on('response', (got) => {
      fields = Object.entries(got).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      )
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      client.close()
      const header = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1]
      const status = Number(header(':status') ?? 0)
      if (status === 0) reject(new Error('The stream was closed without an answer'))
      else resolve({ status, fields, body: Buffer.concat(chunks), header })
    })
    stream.end(body)
  })
}
