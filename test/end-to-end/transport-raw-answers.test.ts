import { fetch } from 'undici'
import { afterAll, describe, expect, test } from 'vitest'
import { undiciTransport } from '../../src/client/transport/undici/undici-transport.ts'
import { createClient, memoryJournal } from '../../src/index.ts'
import { transportRequest } from '../support/transport-request.ts'
import { rawServer } from '../support/transport-servers.ts'

const transport = undiciTransport()
afterAll(() => transport.close())

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Bytes that a server sends, after which it closes; fetch and the transport must read them alike. */
const answers: Record<string, string> = {
  'a plain answer': ANSWER,
  'early hints first': `HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${ANSWER}`,
  'three informational answers first': `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}${ANSWER}`,
  '100 Continue that nobody asked for': `HTTP/1.1 100 Continue\r\n\r\n${ANSWER}`,
  'an upgrade that nobody asked for': 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.0': 'HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nold but good',
  'no content-length': 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end',
  'a reason phrase in UTF-8': 'HTTP/1.1 200 gr\u00c3\u00a9\u00e2\u0082\u00act\r\ncontent-length: 2\r\n\r\nok',
  'no reason phrase': 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok',
  'Latin-1 in values': 'HTTP/1.1 200 OK\r\nx-caf: caf\u00e9\r\ncontent-length: 2\r\n\r\nok',
  'names in capitals': 'HTTP/1.1 200 OK\r\nX-ONE: 1\r\nX-One: 2\r\nContent-Length: 2\r\n\r\nok',
  'names of built-in properties': 'HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\ncontent-length: 2\r\n\r\nok',
  'an empty value': 'HTTP/1.1 200 OK\r\nx-empty:\r\ncontent-length: 2\r\n\r\nok',
  'a length that is too short for the body': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nok',
  'a length that is too long for the body': 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok',
  'a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nok',
  'chunks that stop in the middle': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
  'chunks without the last one': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
  'a chunk size that is no number': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n',
  'a length and chunks at once':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'half a head': 'HTTP/1.1 200 OK\r\ncontent-le',
  'no HTTP at all': 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
  nothing: '',
  'a status of four digits': 'HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\nok',
  'status 999': 'HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nok',
  'a head that is too large': `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
}

describe.each(Object.entries(answers))('%s', (_, answer) => {
  test.each(['GET', 'HEAD', 'POST'])('is read as fetch reads it, for %s', async (method) => {
    const server = await rawServer((socket) => socket.end(Buffer.from(answer, 'latin1')))
    try {
      const expected = await throughFetch(server.origin, method)
      expect(await throughTransport(server.origin, method)).toEqual(expected)
    } finally {
      await server.close()
    }
  })
})

async function throughFetch(url: string, method: string): Promise<unknown> {
  try {
    const response = await fetch(url, { method })
    const body = response.body ? Buffer.from(await response.arrayBuffer()).toString('latin1') : null
    return { status: response.status, statusText: response.statusText, headers: [...response.headers], body }
  } catch {
    return 'failed'
  }
}

async function throughTransport(url: string, method: string): Promise<unknown> {
  const outcome = await transport.send(transportRequest(url, { method }))
  if (outcome.kind === 'fault') return 'failed'
  const body = outcome.body ? Buffer.from(outcome.body).toString('latin1') : null
  const headers = [...new Headers(outcome.headers as [string, string][])]
  return { status: outcome.status, statusText: outcome.statusText, headers, body }
}

test.each([
  ['UTF-8', 'gr\u00c3\u00a9\u00e2\u0082\u00act'],
  ['a control character', 'O\u0001K'],
])('a reason phrase with %s keeps no answer from its caller and its handler', async (_, phrase) => {
  const answer = `HTTP/1.1 200 ${phrase}\r\ncontent-length: 2\r\n\r\nok`
  const server = await rawServer((socket) => socket.end(Buffer.from(answer, 'latin1')))
  const client = createClient({ baseUrl: server.origin, journal: memoryJournal(), retry: false })
  const handled: unknown[] = []
  client.onSettled('charge', ({ status, response }) => void handled.push([status, response?.status]))
  try {
    const response = await client.post('/a', { name: 'charge', json: 1 })
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
    await client.flush()
    expect(handled).toEqual([['succeeded', 200]])
  } finally {
    await client.close()
    await server.close()
  }
})
