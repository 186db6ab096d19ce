import { delay, HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'

// A suite as people have it for their own code, with the client in its default set-up but for the journal.
const api = 'https://api.example'
const seen: { key: string | null; body: unknown }[] = []
const server = setupServer(
  http.post(`${api}/charges`, async ({ request }) => {
    seen.push({ key: request.headers.get('idempotency-key'), body: await request.json() })
    return HttpResponse.json({ id: 'ch_1' }, { status: 201 })
  }),
  http.get(`${api}/charges/:id`, ({ params }) => HttpResponse.json({ id: params.id })),
)
const client = createClient({ baseUrl: api, journal: memoryJournal() })

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => {
  server.resetHandlers()
  seen.length = 0
})
afterAll(async () => {
  server.close()
  await client.close()
})

test('a post reaches its handler with key and body', async () => {
  const handle = client.post('/charges', { json: { amount: 5 } })
  expect(await handle.json()).toEqual({ id: 'ch_1' })
  expect(seen).toEqual([{ key: handle.key, body: { amount: 5 } }])
})

test('a get reaches its handler', async () => {
  expect(await client.get('/charges/7').json()).toEqual({ id: '7' })
})

test('a handler that fails once is tried again with the same key', async () => {
  const keys: (string | null)[] = []
  server.use(
    http.post(`${api}/charges`, ({ request }) => {
      keys.push(request.headers.get('idempotency-key'))
      return keys.length === 1 ? HttpResponse.error() : HttpResponse.json({ id: 'ch_2' })
    }),
  )
  expect(await client.post('/charges', { json: {} }).json()).toEqual({ id: 'ch_2' })
  expect(new Set(keys).size).toBe(1)
  expect(keys).toHaveLength(2)
})

test('a handler that refuses is a RejectedError', async () => {
  server.use(http.post(`${api}/charges`, () => HttpResponse.json({ error: 'no' }, { status: 422 })))
  // A fetch that has replaced the platform's may have sent it before.
  await expect(client.post('/charges', { json: {} })).rejects.toMatchObject({
    name: 'RejectedError',
    effect: 'unknown',
  })
})

test('a handler that refuses as a server that knows the key says that nothing was done', async () => {
  const headers = { 'idempotency-retention': '86400' }
  server.use(http.post(`${api}/charges`, () => HttpResponse.json({ error: 'no' }, { status: 422, headers })))
  await expect(client.post('/charges', { json: {} })).rejects.toMatchObject({ name: 'RejectedError', effect: 'none' })
})

test('a handler that is slow runs into the timeout of the attempt', async () => {
  server.use(
    http.post(`${api}/charges`, async () => {
      await delay('infinite')
      return new HttpResponse()
    }),
  )
  const failed = client.post('/charges', { json: {}, attemptTimeout: 50, retry: false })
  await expect(failed).rejects.toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
})

test('a form reaches its handler', async () => {
  server.use(
    http.post(`${api}/upload`, async ({ request }) => {
      const form = await request.formData()
      return HttpResponse.json({ name: form.get('name') })
    }),
  )
  const form = new FormData()
  form.append('name', 'Ada')
  expect(await client.post('/upload', { body: form }).json()).toEqual({ name: 'Ada' })
})

test('client.fetch reaches the handlers too', async () => {
  const response = await client.fetch('/charges', {
    method: 'POST',
    body: '{"amount":1}',
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(201)
  expect(seen[0]?.body).toEqual({ amount: 1 })
})
