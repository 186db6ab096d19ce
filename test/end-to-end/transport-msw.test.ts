import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { chooseNodeTransport } from '../../src/client/transport/undici/choose-node-transport.ts'
import { asFault, asResponse, bytes, summary, text, transportRequest } from '../support/transport-request.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

// Handlers as people have them in their own tests, unchanged.
const api = 'http://api.example'
const mock = setupServer(
  http.get(`${api}/users/:id`, ({ params }) => HttpResponse.json({ id: params.id })),
  http.post(`${api}/charges`, async ({ request }) => {
    const key = request.headers.get('idempotency-key')
    return HttpResponse.json({ key, got: await request.json() }, { status: 201, headers: { 'x-own': '1' } })
  }),
  http.post(`${api}/old`, () => HttpResponse.redirect(`${api}/users/8`, 303)),
  http.post(`${api}/portal`, () => HttpResponse.redirect('http://portal.example/login', 302)),
  http.get('http://portal.example/login', () => HttpResponse.text('log in')),
  http.get(`${api}/down`, () => HttpResponse.error()),
)
const transport = chooseNodeTransport({})
let server: TestServer

beforeAll(async () => {
  mock.listen({ onUnhandledRequest: 'bypass' })
  server = await httpServer((_request, response) => response.end('real'))
})
afterEach(() => mock.resetHandlers())
afterAll(async () => {
  mock.close()
  await transport.close?.()
  await server.close()
})

test('a handler answers a GET', async () => {
  const answer = asResponse(await transport.send(transportRequest(`${api}/users/7`)))
  expect(JSON.parse(text(answer.body) ?? '')).toEqual({ id: '7' })
})

test('a handler sees method, headers and body of a POST', async () => {
  const request = transportRequest(`${api}/charges`, {
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['idempotency-key', 'k1'],
    ],
    body: bytes('{"amount":5}'),
  })
  const answer = asResponse(await transport.send(request))
  expect(answer.status).toBe(201)
  expect(answer.headers).toContainEqual(['x-own', '1'])
  expect(JSON.parse(text(answer.body) ?? '')).toEqual({ key: 'k1', got: { amount: 5 } })
})

test('a handler that redirects is followed, where its origin is trusted', async () => {
  const post = { method: 'POST', body: bytes('{}'), trusts: (origin: string) => origin === api }
  const answer = asResponse(await transport.send(transportRequest(`${api}/old`, post)))
  expect(answer).toMatchObject({ status: 200, url: `${api}/users/8`, redirected: true })
  const asked: string[] = []
  mock.events.on('request:start', ({ request }) => void asked.push(request.url))
  const refused = await transport.send(transportRequest(`${api}/portal`, post))
  mock.events.removeAllListeners()
  expect(summary(refused)).toMatchObject({ code: 'untrusted-redirect', mayHaveArrived: true })
  expect(asked).toEqual([`${api}/portal`])
})

test('a handler that fails is a network fault', async () => {
  const outcome = await transport.send(transportRequest(`${api}/down`))
  expect(summary(outcome)).toEqual({ code: 'network', mayHaveArrived: true, transient: true })
})

test('what no handler takes is a mistake of the test where msw is told so, and not retried', async () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue()
  mock.close()
  mock.listen({ onUnhandledRequest: 'error' })
  try {
    expect(asFault(await transport.send(transportRequest(`${api}/unknown`)))).toMatchObject({ transient: false })
  } finally {
    mock.close()
    mock.listen({ onUnhandledRequest: 'bypass' })
    complaints.mockRestore()
  }
})

test('what no handler takes goes through', async () => {
  expect(text(asResponse(await transport.send(transportRequest(server.origin))).body)).toBe('real')
})
