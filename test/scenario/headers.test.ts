import { describe, expect, it } from 'vitest'
import type { AttemptContext, HeadersInput } from '../../src/index.ts'
import { elapse, failure, ORIGIN, rejection, scenario } from '../support/client-scenario.ts'

describe('the headers option', () => {
  it('goes to the base URL and to trusted origins only', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }), {
      headers: { Authorization: 'Bearer s3cret' },
      trustedOrigins: ['https://trusted.test'],
    })
    for (const url of ['/a', 'https://trusted.test/a', 'https://other.test/a', 'http://api.test/a']) {
      await client.post(url)
    }
    expect(fetch.calls.map((call) => call.headers.authorization !== undefined)).toEqual([true, true, false, false])
  })

  it('is refused without a base URL and trusted origins: it would never be sent', async () => {
    for (const headers of [{ 'x-a': '1' }, () => ({ 'x-a': '1' })]) {
      expect(() => scenario([], { baseUrl: undefined, headers })).toThrow(/`headers`.*`baseUrl`.*`trustedOrigins`/)
    }
    const { client, fetch } = scenario(() => ({ status: 200 }), {
      baseUrl: undefined,
      trustedOrigins: [ORIGIN],
      headers: { 'x-a': '1' },
    })
    await client.get(`${ORIGIN}/a`)
    expect(fetch.calls[0]?.headers).toHaveProperty('x-a', '1')
  })

  it('is a snapshot of the object that was given', async () => {
    const headers: Record<string, string> = { 'x-a': '1' }
    const { client, fetch } = scenario(() => ({ status: 200 }), { headers })
    headers['x-a'] = '2'
    await client.get('/a')
    expect(fetch.calls[0]?.headers['x-a']).toBe('1')
  })

  it("loses to the call's own, in any letter case, and never to anybody for the key", async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }), {
      headers: { 'X-A': 'client', 'X-B': 'client', 'Idempotency-Key': 'fixed', 'Holdfast-Attempt': '99' },
    })
    const handle = client.post('/a', { headers: { 'x-a': 'call' } })
    await handle
    expect(fetch.calls[0]?.headers).toMatchObject({ 'x-a': 'call', 'x-b': 'client', 'holdfast-attempt': '1' })
    expect(fetch.calls[0]?.headers['idempotency-key']).toBe(handle.key)
  })

  it('sends repeated values of one name', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.get('/a', {
      headers: [
        ['accept', 'text/a'],
        ['accept', 'text/b'],
      ],
    })
    expect(fetch.calls[0]?.headers.accept).toBe('text/a, text/b')
  })

  it('leaves out what is undefined', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }), { headers: () => ({ 'x-a': undefined, 'x-b': '1' }) })
    await client.get('/a', { headers: { 'x-c': undefined } })
    expect(fetch.calls[0]?.headers).not.toHaveProperty('x-a')
    expect(fetch.calls[0]?.headers).not.toHaveProperty('x-c')
    expect(fetch.calls[0]?.headers['x-b']).toBe('1')
  })
})

describe('a headers function', () => {
  it('runs afresh at every attempt, and is told which', async () => {
    const seen: AttemptContext[] = []
    const { client, fetch, clock } = scenario([{ status: 503 }, { fault: 'reset' }, { status: 200 }], {
      headers: (attempt) => {
        seen.push(attempt)
        return { 'x-n': String(attempt.attempt) }
      },
    })
    const handle = client.post('/a?x=1')
    await elapse(clock, 60_000, handle)
    expect(fetch.calls.map((call) => call.headers['x-n'])).toEqual(['1', '2', '3'])
    expect(seen[1]).toEqual({ attempt: 2, method: 'POST', url: `${ORIGIN}/a?x=1`, key: handle.key, refresh: undefined })
  })

  it('may be async, may give Headers or pairs, and may give any thenable', async () => {
    const made: (() => HeadersInput | Promise<HeadersInput>)[] = [
      async () => ({ 'x-n': '1' }),
      () => new Headers({ 'x-n': '1' }),
      () => [['x-n', '1']],
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      () => ({ then: (resolve: (headers: HeadersInput) => void) => resolve({ 'x-n': '1' }) }) as Promise<HeadersInput>,
    ]
    for (const headers of made) {
      const { client, fetch } = scenario(() => ({ status: 200 }), { headers })
      await client.post('/a')
      expect(fetch.calls[0]?.headers['x-n']).toBe('1')
      expect(fetch.calls[0]?.headers).not.toHaveProperty('then')
    }
  })

  it("may be the answer of another client's call", async () => {
    const tokens = scenario(() => ({ json: { authorization: 'Bearer t' } }))
    const { client, fetch } = scenario(() => ({ status: 200 }), {
      headers: () => tokens.client.get('/token').json<Record<string, string>>(),
    })
    await client.post('/a')
    expect(fetch.calls[0]?.headers.authorization).toBe('Bearer t')
  })

  const broken: Record<string, () => HeadersInput | Promise<HeadersInput>> = {
    throws: () => {
      throw new Error('no token for Bearer s3cret')
    },
    rejects: async () => {
      throw new Error('no token for Bearer s3cret')
    },
    'gives a line break': () => ({ 'x-a': 'b\r\nx-evil: 1' }),
    'gives a whole line as a name': () => ({ 'Authorization: Bearer s3cret': '' }),
    'gives a string': () => 'Authorization: Bearer s3cret' as unknown as HeadersInput,
    'gives nothing': () => undefined as unknown as HeadersInput,
  }
  for (const [what, headers] of Object.entries(broken)) {
    it(`that ${what} ends the call without a request, and is not retried`, async () => {
      const { client, fetch, clock, events } = scenario(() => ({ status: 200 }), { headers })
      if (what === 'gives nothing') {
        await client.post('/a')
        expect(fetch.calls).toHaveLength(1)
        return
      }
      const error = await elapse(clock, 60_000, failure(client.post('/a')))
      expect(error).toMatchObject({ name: 'NotSentError', reason: 'auth', effect: 'none', pending: false })
      expect(error.cause).toBeInstanceOf(Error)
      expect(error.message).not.toContain('s3cret')
      expect(JSON.stringify(events)).not.toContain('s3cret')
      expect(fetch.calls).toHaveLength(0)
      expect(clock.pending()).toBe(0)
    })
  }

  it('that never settles can not hold the call beyond its deadline', async () => {
    const { client, fetch, clock } = scenario([], { headers: () => new Promise<never>(() => {}), deadline: '25s' })
    const error = await elapse(clock, 25_000, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'NotSentError', reason: 'deadline', effect: 'none' })
    expect(fetch.calls).toHaveLength(0)
    expect(clock.pending()).toBe(0)
  })

  it('that settles after the abort sends nothing', async () => {
    let give: (headers: HeadersInput) => void = () => {}
    const { client, fetch, clock } = scenario([], {
      headers: () => new Promise<HeadersInput>((resolve) => (give = resolve)),
    })
    const controller = new AbortController()
    const failed = rejection(client.post('/a', { signal: controller.signal }))
    await clock.advance(10)
    controller.abort(new Error('enough'))
    expect(await failed).toMatchObject({ message: 'enough' })
    give({})
    await clock.advance(1000)
    expect(fetch.calls).toHaveLength(0)
  })
})

describe('a header that could smuggle another one in', () => {
  const bad: readonly HeadersInput[] = [
    { 'x-a': 'b\r\nx-evil: 1' },
    { 'x-a': 'b\nx-evil: 1' },
    { 'x-a': 'b\rx' },
    { 'x-a': 'b\0' },
    { 'x-a': '日本' },
    { 'x a': 'b' },
    { 'x-a:': 'b' },
    { '': 'b' },
    { 'x-a\r\nx-evil': 'b' },
    [['x-a', 'b\r\nc']],
    { 'x-a': 5 as unknown as string },
  ]
  for (const headers of bad) {
    it(`is refused synchronously by calls and by createClient: ${JSON.stringify(headers)}`, () => {
      const { client, fetch } = scenario([])
      expect(() => client.post('/a', { headers })).toThrow(/header/)
      expect(() => scenario([], { headers })).toThrow(/header/)
      expect(fetch.calls).toHaveLength(0)
    })
  }

  it('is refused without showing its value', () => {
    const { client } = scenario([])
    for (const headers of [{ 'x-a': 's3cret\n' }, { 'Authorization: Bearer s3cret': 'x' }]) {
      let message = ''
      try {
        client.post('/a', { headers }).catch(() => {})
      } catch (error) {
        message = (error as Error).message
      }
      expect(message).not.toBe('')
      expect(message).not.toContain('s3cret')
    }
  })
})
