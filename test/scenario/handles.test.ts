import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BodyError, createClient, memoryJournal } from '../../src/index.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'
import { failure, ORIGIN, rowsOf, scenario, turn } from '../support/client-scenario.ts'

describe('a handle', () => {
  it('has its key at once, a UUIDv4, and a new one for every operation', () => {
    const { client } = scenario(() => ({ status: 200 }))
    const first = client.post('/a')
    const second = client.post('/a')
    expect(first.key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(second.key).not.toBe(first.key)
  })

  it('has its id, or none', async () => {
    const { client } = scenario(() => ({ status: 200 }))
    const named = client.post('/a', { id: 'order:1' })
    const plain = client.post('/a')
    expect(named.id).toBe('order:1')
    expect(plain.id).toBeUndefined()
    await Promise.all([named, plain])
  })

  it('gives the level that its record has reached', async () => {
    const { client } = scenario(() => ({ status: 200 }))
    expect(await client.post('/a').accepted).toBe('memory')
    expect(await client.get('/a').accepted).toBe('memory')
  })

  it('is on record before anything is sent', async () => {
    const journal = memoryJournal()
    const order: string[] = []
    const noting = {
      ...journal,
      level: journal.level,
      execute: async (commands: Parameters<typeof journal.execute>[0]) => {
        await turn()
        const results = await journal.execute(commands)
        order.push(...commands.map((command) => command.do).filter((what) => what === 'append'))
        return results
      },
    }
    const answering = (): { status: number } => {
      order.push('sent')
      return { status: 200 }
    }
    const { client } = scenario(answering, { journal: noting })
    const handle = client.post('/a')
    await handle.accepted
    expect(order[0]).toBe('append')
    await handle
    expect(order).toEqual(['append', 'sent'])
  })

  it('reads the answer as a Response, JSON, text and bytes, as often as asked', async () => {
    const { client } = scenario([{ status: 201, json: { a: 'ü' }, headers: { 'x-own': '1' } }])
    const handle = client.post('/a')
    const response = await handle
    expect(response).toBeInstanceOf(Response)
    expect(response.status).toBe(201)
    expect(response.headers.get('x-own')).toBe('1')
    expect(await handle.json()).toEqual({ a: 'ü' })
    expect(await handle.json()).toEqual({ a: 'ü' })
    expect(await handle.text()).toBe('{"a":"ü"}')
    expect(await handle.bytes()).toEqual(new TextEncoder().encode('{"a":"ü"}'))
    expect(await response.json()).toEqual({ a: 'ü' })
  })

  it('reads a large answer by any of its readers, each more than once', async () => {
    const { client } = scenario([{ json: 'x'.repeat(100) }], { maxResponseBytes: 10 })
    const handle = client.post('/a')
    expect(await handle.json()).toBe('x'.repeat(100))
    expect(await handle.text()).toBe(`"${'x'.repeat(100)}"`)
    expect((await handle.bytes()).length).toBe(102)
  })

  it('is a promise: then, catch, finally and await', async () => {
    const { client } = scenario(() => ({ status: 200, body: 'x' }))
    let done = 0
    expect(await client.post('/a').then((response) => response.status)).toBe(200)
    expect((await client.post('/a').finally(() => done++)).status).toBe(200)
    expect((await client.post('/a').catch(() => undefined))?.status).toBe(200)
    expect(done).toBe(1)
    expect(await Promise.all([client.post('/a').text(), client.get('/a').text()])).toEqual(['x', 'x'])
  })

  it('says so where the answer is not JSON, and that is not retried', async () => {
    const { client, fetch } = scenario([{ status: 200, body: '<html>' }])
    const handle = client.post('/a', { id: 'i' })
    const error = await failure(handle.json())
    expect(error).toMatchObject({ name: 'BodyError', code: 'HOLDFAST_INVALID_JSON', effect: 'applied', pending: false })
    expect(error).toMatchObject({ operation: { key: handle.key, id: 'i' }, attempts: [{ number: 1, status: 200 }] })
    expect(await (error as BodyError).response?.text()).toBe('<html>')
    expect(fetch.calls).toHaveLength(1)
  })

  it('gives undefined as the JSON of a success without a body', async () => {
    for (const status of [200, 201, 204, 205]) {
      const { client } = scenario([{ status, body: status < 202 ? '' : null }])
      expect(await client.post('/a').json()).toBeUndefined()
    }
  })

  it('does not take a body that was not kept for an empty one', async () => {
    const { client } = scenario([{ status: 200, body: '{"a":1}' }], { maxResponseBytes: 3 })
    expect(await client.post('/a', { id: 'i' }).json()).toEqual({ a: 1 })
    for (const read of ['json', 'text', 'bytes'] as const) {
      const error = await failure(client.post('/a', { id: 'i' })[read]())
      expect(error).toMatchObject({ name: 'BodyError', code: 'HOLDFAST_BODY_OMITTED', effect: 'applied' })
    }
    const ledger = scenario([
      { status: 201, headers: { 'idempotency-body': 'omitted', 'idempotency-replayed': 'true' } },
    ])
    expect(await failure(ledger.client.post('/a').json())).toMatchObject({ code: 'HOLDFAST_BODY_OMITTED' })
  })

  it('cancels while it waits: rejects, sends nothing more, leaves nothing pending', async () => {
    const { client, fetch, clock, journal } = scenario([{ status: 503 }, { status: 200 }])
    const handle = client.post('/a')
    const failed = failure(handle)
    await clock.advance(0)
    expect(fetch.calls).toHaveLength(1)
    await handle.cancel()
    expect(await failed).toMatchObject({ reason: 'aborted', effect: 'unknown', pending: false })
    await clock.advance(60_000)
    expect(fetch.calls).toHaveLength(1)
    expect((await rowsOf(journal)).filter((row) => row.status === 'pending')).toEqual([])
    expect(clock.pending()).toBe(0)
  })

  it('cancels in the same tick: nothing is ever sent', async () => {
    const { client, fetch, clock } = scenario(() => ({ status: 200 }))
    const calls = [
      () => client.post('/a'),
      () => client.post('/a', { id: 'x' }),
      () => client.put('/a', { body: new Blob(['x']) }),
    ]
    for (const call of calls) {
      const handle = call()
      const failed = failure(handle)
      const cancelled = handle.cancel()
      await clock.advance(100)
      await cancelled
      expect(await failed).toMatchObject({ name: 'NotSentError', reason: 'aborted', effect: 'none' })
    }
    expect(fetch.calls).toHaveLength(0)
  })

  it('can be cancelled after the end, to no effect', async () => {
    const { client } = scenario([{ status: 200, body: 'x' }])
    const handle = client.post('/a')
    await handle
    await handle.cancel()
    expect(await handle.text()).toBe('x')
  })
})

describe('a failure that nobody handles', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  let others: NodeJS.UnhandledRejectionListener[] = []

  beforeEach(() => {
    unhandled.length = 0
    others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', note)
  })
  afterEach(() => {
    process.removeAllListeners('unhandledRejection')
    for (const other of others) process.on('unhandledRejection', other)
  })

  const refusing = () =>
    createClient({ baseUrl: ORIGIN, journal: memoryJournal(), fetch: scriptedFetch(() => ({ status: 400 })) })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await turn()
  }

  it('raises exactly one unhandled rejection', async () => {
    const client = refusing()
    client.post('/a')
    await client.flush()
    await settle()
    expect(unhandled).toHaveLength(1)
    expect(unhandled[0]).toMatchObject({ name: 'RejectedError' })
  })

  it('raises exactly one, also where json() and accepted were made and left alone', async () => {
    const client = refusing()
    const handle = client.post('/a')
    void handle.json()
    void handle.text()
    void handle.accepted
    await client.flush()
    await settle()
    expect(unhandled).toHaveLength(1)
  })

  const handlers: Record<string, (handle: ReturnType<ReturnType<typeof refusing>['post']>) => unknown> = {
    'the promise': (handle) => handle.catch(() => {}),
    'json()': (handle) => handle.json().catch(() => {}),
    'text()': (handle) => handle.text().then(undefined, () => {}),
    'bytes()': (handle) => handle.bytes().catch(() => {}),
    accepted: (handle) => handle.accepted.catch(() => {}),
  }
  for (const [name, handleIt] of Object.entries(handlers)) {
    it(`raises none where ${name} is handled and the others were left alone`, async () => {
      const client = refusing()
      const handle = client.post('/a')
      void handle.json()
      void handle.bytes()
      void handle.accepted
      handleIt(handle)
      await client.flush()
      await settle()
      expect(unhandled).toEqual([])
    })
  }

  it('raises none where nothing could be accepted and one is handled', async () => {
    const client = refusing()
    const handle = client.post('/a', { body: 'x'.repeat(100), deadline: 0 })
    void handle.accepted
    void handle.json()
    await handle.catch(() => {})
    await settle()
    expect(unhandled).toEqual([])
  })

  it('raises none for client.fetch that resolves, and none behind a rejection that is handled', async () => {
    const client = refusing()
    expect((await client.fetch('/a', { method: 'POST' })).status).toBe(400)
    await client.fetch('nonsense://x').catch(() => {})
    await settle()
    expect(unhandled).toEqual([])
  })
})
