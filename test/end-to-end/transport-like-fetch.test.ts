import { fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FetchLike } from '../../src/client/options.ts'
import { fetchTransport } from '../../src/client/transport/fetch/fetch-transport.ts'
import type { Transport, TransportRequest } from '../../src/client/transport/port.ts'
import { NODE_MEANS } from '../../src/client/transport/undici/choose-node-transport.ts'
import { undiciTransport } from '../../src/client/transport/undici/undici-transport.ts'
import { type WireCase, wireCases, wireListener } from '../support/transport-cases.ts'
import { transportRequest } from '../support/transport-request.ts'
import { httpServer, type Seen, type TestServer } from '../support/transport-servers.ts'

let home: TestServer
let away: TestServer
const below = undiciTransport()
const aboveFetch = fetchTransport(globalThis.fetch, NODE_MEANS)

beforeAll(async () => {
  home = await httpServer(wireListener(() => away.origin))
  away = await httpServer(wireListener(() => home.origin))
})

afterAll(async () => {
  await below.close()
  await Promise.all([home.close(), away.close()])
})

/** Everything that a caller and a server can see of one request. */
interface Sight {
  readonly answer: unknown
  readonly home: unknown[]
  readonly away: unknown[]
}

describe.each(wireCases)('$name', (wireCase) => {
  test('is the same through undici as through fetch', async () => {
    const expected = await withFetch(undiciFetch as unknown as FetchLike, wireCase)
    expect(await withTransport(below, wireCase)).toEqual(expected)
  })

  test('is the same through a fetch transport as through fetch', async () => {
    const expected = await withFetch(globalThis.fetch, wireCase)
    expect(await withTransport(aboveFetch, wireCase)).toEqual(expected)
  })
})

async function withFetch(fetch: FetchLike, wireCase: WireCase): Promise<Sight> {
  const { method, headers, body, redirect } = request(wireCase)
  return look(async () => {
    // A Blob, since the fetch of Node 20 can't send bytes twice: it fails where a redirect keeps the body.
    const content = body && new Blob([new Uint8Array(body)])
    const init = { method, headers: headers as [string, string][], redirect, body: content }
    const response = await fetch(home.origin + wireCase.path, init)
    const { status, statusText, url, redirected } = response
    const text = response.body ? Buffer.from(await response.arrayBuffer()).toString('latin1') : null
    return { status, statusText, url, redirected, text, headers: visible(response.headers) }
  })
}

function withTransport(transport: Transport, wireCase: WireCase): Promise<Sight> {
  return look(async () => {
    const outcome = await transport.send(request(wireCase))
    if (outcome.kind === 'fault') throw outcome.cause
    const { status, statusText, url, redirected, body } = outcome
    const text = body ? Buffer.from(body).toString('latin1') : null
    const headers = visible(new Headers(outcome.headers as [string, string][]))
    return { status, statusText, url, redirected, text, headers }
  })
}

function request(wireCase: WireCase): TransportRequest {
  return transportRequest(home.origin + wireCase.path, wireCase.request)
}

async function look(run: () => Promise<unknown>): Promise<Sight> {
  home.seen.length = 0
  away.seen.length = 0
  const answer = await run().catch(() => 'failed')
  return { answer, home: home.seen.map(comparable), away: away.seen.map(comparable) }
}

const COMPARED = [
  'content-type',
  'content-length',
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-own',
  'accept',
  'range',
]

function comparable({ method, url, headers, body }: Seen): unknown {
  return { method, url, body, headers: COMPARED.map((name) => [name, headers[name]]) }
}

function visible(headers: Headers): unknown {
  return [...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
}
