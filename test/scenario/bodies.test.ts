import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { BodyInput, CallOptions } from '../../src/index.ts'
import { elapse, failure, rejection, rowsOf, scenario } from '../support/client-scenario.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

function stream(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? text(chunk) : chunk)
      controller.close()
    },
  })
}

async function* pieces(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array | string> {
  for (const chunk of chunks) yield chunk
}

const form = new FormData()
form.append('name', 'Ada')
form.append('file', new Blob(['bytes'], { type: 'text/csv' }), 'a.csv')

type Kind = readonly [kind: string, options: () => CallOptions, sent: string | undefined, type: string | undefined]
const kinds: readonly Kind[] = [
  ['json', () => ({ json: { a: [1, null] } }), '{"a":[1,null]}', 'application/json'],
  ['json null', () => ({ json: null }), 'null', 'application/json'],
  ['json false', () => ({ json: false }), 'false', 'application/json'],
  ['a string', () => ({ body: 'hé' }), 'hé', 'text/plain;charset=UTF-8'],
  ['an empty string', () => ({ body: '' }), '', 'text/plain;charset=UTF-8'],
  ['bytes', () => ({ body: text('abc') }), 'abc', undefined],
  ['a view of a larger buffer', () => ({ body: text('xabcx').subarray(1, 4) }), 'abc', undefined],
  ['an ArrayBuffer', () => ({ body: text('abc').buffer as ArrayBuffer }), 'abc', undefined],
  ['an ArrayBuffer of another realm', () => ({ body: runInNewContext('new Uint8Array([97]).buffer') }), 'a', undefined],
  ['bytes of another realm', () => ({ body: runInNewContext('new Uint8Array([97])') }), 'a', undefined],
  ['a DataView', () => ({ body: new DataView(text('xabc').buffer, 1) }), 'abc', undefined],
  ['a Blob', () => ({ body: new Blob(['abc'], { type: 'text/x' }) }), 'abc', 'text/x'],
  ['a Blob without a type', () => ({ body: new Blob(['abc']) }), 'abc', undefined],
  [
    'URLSearchParams',
    () => ({ body: new URLSearchParams({ a: '1', b: 'ä' }) }),
    'a=1&b=%C3%A4',
    'application/x-www-form-urlencoded;charset=UTF-8',
  ],
  ['a ReadableStream', () => ({ body: stream('ab', 'c') }), 'abc', undefined],
  ['an async iterable', () => ({ body: pieces('a', text('bc')) }), 'abc', undefined],
  ['FormData', () => ({ body: form }), undefined, undefined],
  ['no body', () => ({}), '', undefined],
  ['a null body', () => ({ body: null }), '', undefined],
]

describe('every attempt sends the same bytes and the same content type', () => {
  for (const [kind, options, sent, type] of kinds) {
    it(`for ${kind}`, async () => {
      const { client, clock, fetch } = scenario([{ status: 503 }, { fault: 'reset' }, { status: 200 }])
      await elapse(clock, 60_000, client.post('/a', options()))
      expect(fetch.calls).toHaveLength(3)
      expect(new Set(fetch.calls.map((call) => Buffer.from(call.body).toString('hex'))).size).toBe(1)
      expect(new Set(fetch.calls.map((call) => call.headers['content-type'])).size).toBe(1)
      if (sent === undefined) return
      expect(fetch.calls[0]?.text).toBe(sent)
      expect(fetch.calls[0]?.headers['content-type']).toBe(type)
    })
  }

  it('FormData has one boundary, the one in its content type', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }, { status: 200 }])
    await elapse(clock, 60_000, client.post('/a', { body: form }))
    const boundary = /^multipart\/form-data; ?boundary=(.+)$/.exec(fetch.calls[1]?.headers['content-type'] ?? '')?.[1]
    expect(boundary).toBeTruthy()
    expect(fetch.calls[1]?.text).toContain(`--${boundary}\r\n`)
    expect(fetch.calls[1]?.text).toContain('filename="a.csv"')
    expect(fetch.calls[0]?.text).toBe(fetch.calls[1]?.text)
  })

  it("a content type of the caller's own wins", async () => {
    const { client, fetch } = scenario([{ status: 200 }])
    await client.post('/a', { json: {}, headers: { 'Content-Type': 'application/merge-patch+json' } })
    expect(fetch.calls[0]?.headers['content-type']).toBe('application/merge-patch+json')
  })
})

describe('a body that is changed after the call', () => {
  it('is sent as it was', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 200 }))
    const object = { amount: 1 }
    const bytes = text('abc')
    const buffer = text('abc').buffer as ArrayBuffer
    const params = new URLSearchParams('a=1')
    const data = new FormData()
    data.append('a', '1')
    const headers: Record<string, string> = { 'x-own': '1' }
    const metadata = { a: [1] }
    const calls = [
      client.post('/a', { json: object, headers }),
      client.post('/a', { body: bytes }),
      client.post('/a', { body: buffer }),
      client.post('/a', { body: params }),
      client.post('/a', { body: data }),
      client.post('/a', { id: 'm', metadata }),
    ]
    object.amount = 2
    bytes.fill(0)
    new Uint8Array(buffer).fill(0)
    params.set('a', '2')
    data.set('a', '2')
    headers['x-own'] = '2'
    metadata.a.push(2)
    await elapse(clock, 0, Promise.all(calls))
    const byStart = (start: string) => fetch.calls.filter((call) => call.text.startsWith(start))
    expect(byStart('{"amount":1}')[0]?.headers['x-own']).toBe('1')
    expect(byStart('abc')).toHaveLength(2)
    expect(byStart('a=1')).toHaveLength(1)
    expect(byStart('--')[0]?.text).toContain('\r\n\r\n1\r\n')
    expect((await client.operation('m'))?.metadata).toEqual({ a: [1] })
  })
})

describe('a body that is too large', () => {
  const large: Record<string, () => CallOptions> = {
    json: () => ({ json: 'x'.repeat(20) }),
    'a string': () => ({ body: 'x'.repeat(20) }),
    bytes: () => ({ body: new Uint8Array(20) }),
    'a Blob': () => ({ body: new Blob(['x'.repeat(20)]) }),
    FormData: () => ({ body: form }),
    'a stream': () => ({ body: stream('x'.repeat(8), 'x'.repeat(8)) }),
    'an async iterable': () => ({ body: pieces('x'.repeat(8), 'x'.repeat(8)) }),
  }
  for (const [kind, options] of Object.entries(large)) {
    it(`is refused before anything is sent or written: ${kind}`, async () => {
      const { client, fetch, journal } = scenario([], { maxBodyBytes: 15 })
      const handle = client.post('/a', options())
      const error = await failure(handle)
      expect(error).toMatchObject({
        name: 'BodyError',
        code: 'HOLDFAST_BODY_TOO_LARGE',
        effect: 'none',
        pending: false,
      })
      expect(error.message).toContain('maxBodyBytes')
      expect(await failure(handle.accepted)).toBe(error)
      expect(fetch.calls).toHaveLength(0)
      expect(await rowsOf(journal)).toEqual([])
    })
  }

  it('may be exactly as large as allowed', async () => {
    const { client, fetch } = scenario([{ status: 200 }, { status: 200 }], { maxBodyBytes: 15 })
    await client.post('/a', { body: 'x'.repeat(15) })
    await client.post('/a', { body: stream('x'.repeat(15)) })
    expect(fetch.calls.map((call) => call.body.length)).toEqual([15, 15])
  })

  it('ends its stream', async () => {
    let cancelled = 0
    let returned = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(8)),
      cancel: () => void cancelled++,
    })
    async function* generator(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(8)
      } finally {
        returned++
      }
    }
    const { client } = scenario([], { maxBodyBytes: 100 })
    await failure(client.post('/a', { body: endless }))
    await failure(client.post('/a', { body: generator() }))
    expect([cancelled, returned]).toEqual([1, 1])
  })

  it('is 10 MiB by default', async () => {
    const { client, fetch } = scenario([{ status: 200 }])
    await client.post('/a', { body: new Uint8Array(10 * 1024 * 1024) })
    expect(fetch.calls[0]?.body.length).toBe(10 * 1024 * 1024)
    await failure(client.post('/a', { body: new Uint8Array(10 * 1024 * 1024 + 1) }))
  })
})

describe('a body that cannot be taken', () => {
  const refused: Record<string, () => CallOptions> = {
    'circular JSON': () => {
      const circle: { self?: unknown } = {}
      circle.self = circle
      return { json: circle }
    },
    'a BigInt in JSON': () => ({ json: { n: 1n } }),
    'a function as JSON': () => ({ json: () => 1 }),
    'a toJSON that throws': () => ({
      json: {
        toJSON() {
          throw new Error('no')
        },
      },
    }),
    'a locked stream': () => {
      const body = stream('a')
      body.getReader()
      return { body }
    },
    'a buffer that was given away': () => {
      const body = new ArrayBuffer(4)
      structuredClone(body, { transfer: [body] })
      return { body }
    },
    'a stream that fails': () => ({
      body: new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('disk')) }),
    }),
    'a stream of numbers': () => ({
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(7 as unknown as Uint8Array)
          controller.close()
        },
      }),
    }),
  }
  for (const [kind, options] of Object.entries(refused)) {
    it(`rejects with a BodyError and sends nothing: ${kind}`, async () => {
      const { client, fetch, journal } = scenario([])
      const handle = client.post('/a', options())
      const error = await failure(handle)
      expect(error).toMatchObject({ name: 'BodyError', effect: 'none', operation: { key: handle.key } })
      expect(fetch.calls).toHaveLength(0)
      expect(await rowsOf(journal)).toEqual([])
    })
  }

  const wrong: Record<string, unknown> = { number: 5, object: { a: 1 }, array: [1], boolean: true }
  for (const [kind, body] of Object.entries(wrong)) {
    it(`is a ConfigurationError that names the kinds: ${kind}`, async () => {
      const { client, fetch } = scenario([])
      const error = await rejection((async () => client.post('/a', { body: body as BodyInput }))())
      expect(error).toMatchObject({ name: 'ConfigurationError' })
      expect((error as Error).message).toContain('FormData')
      expect(fetch.calls).toHaveLength(0)
    })
  }

  it('is refused on GET and HEAD, which have none', async () => {
    const { client, fetch } = scenario([])
    for (const method of ['GET', 'HEAD']) {
      const error = await rejection((async () => client.request(method, '/a', { json: {} }))())
      expect(error).toMatchObject({ name: 'ConfigurationError' })
    }
    expect(fetch.calls).toHaveLength(0)
  })
})

describe('a stream that does not end', () => {
  const stalled = (): ReadableStream<Uint8Array> => new ReadableStream({ pull: () => new Promise(() => {}) })

  it('holds the caller only until the deadline', async () => {
    const { client, clock, fetch } = scenario([])
    const error = await elapse(clock, 1000, failure(client.post('/a', { body: stalled(), deadline: 1000 })))
    expect(error).toMatchObject({ name: 'NotSentError', reason: 'deadline', effect: 'none' })
    expect(fetch.calls).toHaveLength(0)
    expect(clock.pending()).toBe(0)
  })

  it('lets the caller abort at once', async () => {
    const { client, clock } = scenario([])
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { body: stalled(), signal: controller.signal }))
    await clock.advance(10)
    controller.abort('enough')
    expect(await failed).toBe('enough')
    expect(clock.pending()).toBe(0)
  })

  it('lets the caller cancel', async () => {
    const { client, clock } = scenario([])
    const handle = client.post('/a', { body: stalled() })
    const failed = failure(handle)
    await clock.advance(10)
    await handle.cancel()
    expect(await failed).toMatchObject({ name: 'NotSentError', reason: 'aborted' })
    expect(clock.pending()).toBe(0)
  })
})
