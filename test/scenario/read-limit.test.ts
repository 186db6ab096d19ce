import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BodyError, type ClientOptions, createClient, RejectedError } from '../../src/index.ts'
import { failure, scenario } from '../support/client-scenario.ts'
import { afterwards } from '../support/shared-folder.ts'

const MIB = 1024 * 1024

/** A server whose answers are small on the wire and large when they are read. */
async function bombServer(bytes: number): Promise<string> {
  const bomb = gzipSync(Buffer.alloc(bytes, 32))
  const server = createServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('maxReadBytes', () => {
  const reads = ['json', 'text', 'bytes'] as const

  for (const [name, options] of [
    ['undici', {}],
    ['fetch', { fetch: (input, init) => fetch(input, init) }],
  ] satisfies [string, ClientOptions][]) {
    for (const read of reads) {
      it(`ends ${read}() of an answer that is larger when it is read, over ${name}`, async () => {
        const baseUrl = await bombServer(9 * MIB)
        const client = createClient({ baseUrl, journal: false, maxReadBytes: 2 * MIB, ...options })
        const error = await failure(client.post('/a')[read]())
        expect(error).toBeInstanceOf(BodyError)
        expect(error).toMatchObject({ code: 'HOLDFAST_BODY_TOO_LARGE', effect: 'applied' })
        expect(error.message).toContain('maxReadBytes')
        await client.close()
      })
    }
  }

  it('leaves an answer alone that is not longer, and the stream of any', async () => {
    const baseUrl = await bombServer(3 * MIB)
    const client = createClient({ baseUrl, journal: false, maxReadBytes: 3 * MIB })
    expect((await client.post('/a').bytes()).length).toBe(3 * MIB)
    const small = createClient({ baseUrl, journal: false, maxReadBytes: 2 * MIB })
    expect((await (await small.post('/a')).arrayBuffer()).byteLength).toBe(3 * MIB)
    await Promise.all([client.close(), small.close()])
  })

  it('is 64 MiB', async () => {
    const baseUrl = await bombServer(64 * MIB + 1)
    const client = createClient({ baseUrl, journal: false })
    expect(await failure(client.post('/a').bytes())).toMatchObject({ code: 'HOLDFAST_BODY_TOO_LARGE' })
    await client.close()
  })
})

describe('the answer that an error carries', () => {
  it('is not printed with it: it has cookies and tokens', async () => {
    const headers = { 'set-cookie': 'sid=RESPCOOKIE', location: 'https://u:LOCPASS@h/x?access_token=LOCTOKEN' }
    const { client } = scenario([{ status: 404, headers }])
    const error = await failure(client.post('/a'))
    expect(error).toBeInstanceOf(RejectedError)
    expect((error as RejectedError).response.headers.get('set-cookie')).toContain('RESPCOOKIE')
    expect(inspect(error, { depth: 20 })).not.toMatch(/RESPCOOKIE|LOCPASS|LOCTOKEN/)
    expect(Object.keys(error)).not.toContain('response')
  })
})
