import { describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, ORIGIN, rowsOf, scenario } from '../support/client-scenario.ts'

const DURABLE = ['post', 'put', 'patch', 'delete'] as const
const PLAIN = ['get', 'head', 'options'] as const

describe('the verbs', () => {
  for (const verb of DURABLE) {
    it(`${verb} is journaled and carries its key from the first attempt`, async () => {
      const { client, fetch, journal, clock } = scenario([{ hang: true }])
      const handle = client[verb]('/a')
      handle.catch(() => {})
      await clock.advance(1)
      expect(fetch.calls[0]).toMatchObject({ method: verb.toUpperCase(), url: `${ORIGIN}/a` })
      expect(fetch.calls[0]?.headers['idempotency-key']).toBe(handle.key)
      expect(await rowsOf(journal)).toMatchObject([{ key: handle.key, status: 'pending' }])
      await handle.cancel()
    })
  }

  for (const verb of PLAIN) {
    it(`${verb} is not journaled and carries no key, and is retried`, async () => {
      const { client, fetch, journal, clock } = scenario([{ status: 503 }, { hang: true }])
      const handle = client[verb]('/a')
      handle.catch(() => {})
      await clock.advance(1000)
      expect(fetch.calls.map((call) => call.method)).toEqual([verb.toUpperCase(), verb.toUpperCase()])
      expect(fetch.calls[0]?.headers).not.toHaveProperty('idempotency-key')
      expect(fetch.calls[0]?.headers).not.toHaveProperty('repeatability-first-sent')
      expect(await rowsOf(journal)).toEqual([])
      await handle.cancel()
    })
  }

  it('QUERY is safe: with a body, but neither journaled nor keyed, and retried', async () => {
    const { client, fetch, journal, clock } = scenario([{ status: 503 }, { fault: 'reset' }, { body: 'found' }])
    const call = client.request('QUERY', '/search', { json: { name: 'Ada' } })
    expect(await elapse(clock, 60_000, call.text())).toBe('found')
    expect(fetch.calls.map(({ method }) => method)).toEqual(['QUERY', 'QUERY', 'QUERY'])
    expect(fetch.calls[0]?.headers).not.toHaveProperty('idempotency-key')
    expect(await rowsOf(journal)).toEqual([])
  })

  it('QUERY of client.fetch is retried without a key', async () => {
    const { client, fetch, clock } = scenario([{ fault: 'reset' }, { body: 'found' }])
    const call = client.fetch('/search', { method: 'QUERY', body: 'name=Ada' })
    expect((await elapse(clock, 60_000, call)).status).toBe(200)
    expect(fetch.calls).toHaveLength(2)
  })

  it('request takes any method, standard ones in any letter case', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.request('post', '/a')
    await client.request('PURGE', '/a')
    await client.request('purge', '/a')
    expect(fetch.calls.map((call) => call.method)).toEqual(['POST', 'PURGE', 'purge'])
    expect(fetch.calls[1]?.headers).toHaveProperty('idempotency-key')
  })

  it('works without being bound to the client', async () => {
    const { client } = scenario(() => ({ status: 200, body: 'x' }))
    const { fetch } = client
    expect(await (await fetch('/a')).text()).toBe('x')
  })
})

describe('durable: false', () => {
  for (const verb of ['post', 'patch'] as const) {
    it(`${verb} without a key is attempted once, whatever happens, and is neither keyed nor journaled`, async () => {
      for (const step of [{ status: 503 }, { fault: 'reset' }, { fault: 'refused' }, { status: 429 }] as const) {
        const { client, fetch, journal, clock } = scenario([step])
        await elapse(clock, 60_000, failure(client[verb]('/a', { durable: false })))
        expect(fetch.calls).toHaveLength(1)
        expect(fetch.calls[0]?.headers).not.toHaveProperty('idempotency-key')
        expect(fetch.calls[0]?.headers).not.toHaveProperty('do-not-retry')
        expect(await rowsOf(journal)).toEqual([])
      }
    })
  }

  it('put and delete are idempotent by themselves and are retried', async () => {
    for (const verb of ['put', 'delete'] as const) {
      const { client, fetch, clock, journal } = scenario([{ fault: 'reset' }, { status: 200 }])
      await elapse(clock, 60_000, client[verb]('/a', { durable: false }))
      expect(fetch.calls).toHaveLength(2)
      expect(await rowsOf(journal)).toEqual([])
    }
  })

  it("a post with the caller's own key is retried, keyed, and not journaled", async () => {
    const { client, fetch, clock, journal } = scenario([{ fault: 'reset' }, { status: 200 }])
    await elapse(clock, 60_000, client.post('/a', { durable: false, key: 'mine' }))
    expect(fetch.calls.map((call) => call.headers['idempotency-key'])).toEqual(['mine', 'mine'])
    expect(await rowsOf(journal)).toEqual([])
  })

  it('never opens the journal', async () => {
    let opened = 0
    const journal = { ...memoryJournal(), level: 'memory' as const, open: async () => void opened++ }
    const { client } = scenario(() => ({ status: 200 }), { journal })
    await client.post('/a', { durable: false })
    await client.get('/a')
    expect(opened).toBe(0)
  })
})

describe('the durable option of a client', () => {
  it('is the default of its calls, which may say otherwise', async () => {
    const { client, fetch, journal, clock } = scenario([{ status: 503 }, { status: 200 }], { durable: false })
    await elapse(clock, 60_000, failure(client.post('/a')))
    expect(fetch.calls.map((call) => call.headers['idempotency-key'])).toEqual([undefined])
    expect(await rowsOf(journal)).toEqual([])
    await client.post('/a', { durable: true, id: 'i' })
    expect(await rowsOf(journal)).toHaveLength(1)
  })

  it('true journals what is safe, too', async () => {
    const { client, journal } = scenario(() => ({ status: 200 }), { durable: true })
    await client.get('/a', { id: 'i', name: 'n' })
    expect(await rowsOf(journal)).toHaveLength(1)
  })

  it('is refused where another option says the opposite', () => {
    expect(() => scenario([], { durable: true, journal: false })).toThrow(
      /`durable: true` and `journal: false` exclude/,
    )
    expect(() => scenario([], { durable: false, onGiveUp: 'keep' })).toThrow(
      /`durable: false` and `onGiveUp: 'keep'` exclude/,
    )
  })

  it('leaves the outbox as it is', async () => {
    const { client, fetch, journal } = scenario(() => ({ status: 200 }), { durable: false })
    await client.send(await client.prepare('POST', '/a', { id: 'i' }))
    expect(fetch.calls[0]?.headers).toHaveProperty('idempotency-key')
    expect(await rowsOf(journal)).toHaveLength(1)
    await expect(client.prepare('POST', '/a', { durable: false })).rejects.toThrow(/`durable: false`/)
  })
})

describe('what only a record can hold', () => {
  const held = [{ id: 'i' }, { name: 'n' }, { metadata: { a: 1 } }, { onGiveUp: 'keep' }] as const
  for (const options of held) {
    const [option = ''] = Object.keys(options)
    it(`is refused synchronously where there is none: ${option}`, () => {
      const { client, fetch } = scenario([])
      const forgetful = scenario([], { durable: false })
      const says = new RegExp(`\`${option}\`.*journaled`)
      expect(() => client.post('/a', { ...options, durable: false })).toThrow(says)
      expect(() => client.get('/a', options)).toThrow(says)
      expect(() => client.head('/a', options)).toThrow(says)
      expect(() => forgetful.client.post('/a', options)).toThrow(says)
      expect([...fetch.calls, ...forgetful.fetch.calls]).toEqual([])
    })
  }

  it('is taken with a safe method that is durable', async () => {
    const { client } = scenario(() => ({ status: 200 }))
    await client.get('/a', { id: 'i', name: 'n', metadata: 1, onGiveUp: 'keep', durable: true })
    expect(await client.operation('i')).toMatchObject({ status: 'succeeded', metadata: 1 })
  })
})

describe("the caller's own key", () => {
  it('with a blank, as the header of a structured field may have it, goes out in quotes', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    const handle = client.post('/a', { headers: { 'idempotency-key': '"order 42";v=1' } })
    expect(handle.key).toBe('order 42')
    await handle
    expect(fetch.calls.map((call) => call.headers['idempotency-key'])).toEqual(['"order 42"'])
    expect(() => client.post('/a', { key: 'order 42' })).toThrow('1 to 255 visible ASCII characters')
  })

  it('wins, as an option and as a header in any letter case, bare or quoted', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    const handles = [
      client.post('/a', { key: 'k-1' }),
      client.post('/a', { headers: { 'Idempotency-Key': 'k-2' } }),
      client.post('/a', { headers: { 'IDEMPOTENCY-KEY': 'k-3' } }),
      client.post('/a', { headers: new Headers([['idempotency-key', 'k-4']]) }),
      client.post('/a', { headers: [['iDeMpOtEnCy-KeY', '"k-5"']] }),
    ]
    expect(handles.map((handle) => handle.key)).toEqual(['k-1', 'k-2', 'k-3', 'k-4', 'k-5'])
    await Promise.all(handles)
    expect(fetch.calls.map((call) => call.headers['idempotency-key']).sort()).toEqual([
      'k-1',
      'k-2',
      'k-3',
      'k-4',
      'k-5',
    ])
  })

  it('as an option wins over the header', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.post('/a', { key: 'option', headers: { 'Idempotency-Key': 'header' } })
    expect(fetch.calls[0]?.headers['idempotency-key']).toBe('option')
  })

  it('is read from and sent under another name, quoted where asked', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }), {
      keyHeader: { name: 'X-Request-Id', format: 'structured' },
    })
    const handle = client.post('/a', { headers: { 'x-request-ID': 'mine' } })
    expect(handle.key).toBe('mine')
    await handle
    expect(fetch.calls[0]?.headers['x-request-id']).toBe('"mine"')
    expect(fetch.calls[0]?.headers).not.toHaveProperty('idempotency-key')
  })

  it('that is malformed is refused synchronously, without showing it', () => {
    const { client } = scenario([])
    for (const key of ['', 'a b', 'x'.repeat(256), 'ä', 'a\nb']) {
      expect(() => client.post('/a', { key })).toThrow(/key/)
    }
    expect(() => client.post('/a', { headers: { 'idempotency-key': 'a, b' } })).toThrow(/idempotency key/)
  })

  it('is sent on a GET too, which is still not journaled', async () => {
    const { client, fetch, journal } = scenario(() => ({ status: 200 }))
    await client.get('/a', { key: 'g' })
    expect(fetch.calls[0]?.headers['idempotency-key']).toBe('g')
    expect(await rowsOf(journal)).toEqual([])
  })
})

describe('URLs', () => {
  const resolved: readonly (readonly [base: string | undefined, url: string | URL, sent: string])[] = [
    [ORIGIN, '/a', `${ORIGIN}/a`],
    [ORIGIN, 'a', `${ORIGIN}/a`],
    [`${ORIGIN}/v1`, 'charges', `${ORIGIN}/v1/charges`],
    [`${ORIGIN}/v1`, '/charges', `${ORIGIN}/v1/charges`],
    [`${ORIGIN}/v1/`, 'charges', `${ORIGIN}/v1/charges`],
    [`${ORIGIN}/v1/`, '/charges/', `${ORIGIN}/v1/charges/`],
    [`${ORIGIN}/v1`, '/charges?limit=1#part', `${ORIGIN}/v1/charges?limit=1`],
    [`${ORIGIN}/v1`, '/charges:batch?at=a:b', `${ORIGIN}/v1/charges:batch?at=a:b`],
    [`${ORIGIN}/v1`, '../v2/charges', `${ORIGIN}/v2/charges`],
    [`${ORIGIN}/v1`, '', `${ORIGIN}/v1`],
    [`${ORIGIN}/v1/`, '', `${ORIGIN}/v1/`],
    [`${ORIGIN}/v1`, '?q=1', `${ORIGIN}/v1?q=1`],
    [`${ORIGIN}/v1`, 'https://other.test/x', 'https://other.test/x'],
    [`${ORIGIN}/v1`, new URL('https://other.test/x'), 'https://other.test/x'],
    // However it is disguised, what has no scheme stays with the base.
    [`${ORIGIN}/v1`, '/\t/evil.test/a', `${ORIGIN}/v1//evil.test/a`],
    [ORIGIN, '', `${ORIGIN}/`],
    [ORIGIN, '?q=1', `${ORIGIN}/?q=1`],
    [ORIGIN, '/a#part', `${ORIGIN}/a`],
    [ORIGIN, 'http://other.test/x', 'http://other.test/x'],
    [undefined, new URL('https://other.test/x?y=1'), 'https://other.test/x?y=1'],
    [ORIGIN, '/ä b', `${ORIGIN}/%C3%A4%20b`],
  ]
  for (const [baseUrl, url, sent] of resolved) {
    it(`${String(url)} with ${baseUrl ?? 'no base'} goes to ${sent}`, async () => {
      const { client, fetch } = scenario(() => ({ status: 200 }), { baseUrl })
      await client.post(url)
      expect(fetch.calls[0]?.url).toBe(sent)
    })
  }

  it('searchParams are added to those that the URL has', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.get('/a?x=1', { searchParams: { b: 2, c: true, d: undefined, e: 'ä&=' } })
    await client.get('/a?x=1', {
      searchParams: new URLSearchParams([
        ['b', '1'],
        ['b', '2'],
      ]),
    })
    await client.get('/a', { searchParams: '?b=1&b=2' })
    expect(fetch.calls.map((call) => call.url)).toEqual([
      `${ORIGIN}/a?x=1&b=2&c=true&e=%C3%A4%26%3D`,
      `${ORIGIN}/a?x=1&b=1&b=2`,
      `${ORIGIN}/a?b=1&b=2`,
    ])
  })

  it('a host without a scheme is refused: neither the base nor another server gets what was meant for one of them', () => {
    const { client, fetch } = scenario([], { baseUrl: `${ORIGIN}/v1`, headers: { authorization: 'Bearer mine' } })
    for (const url of ['//evil.test/a', ' //evil.test/a', '\\\\evil.test/a', '/\\evil.test/a']) {
      expect(() => client.post(url)).toThrow(/two slashes/)
    }
    expect(fetch.calls).toHaveLength(0)
  })

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['a relative URL without a base', '/a', /baseUrl/],
    ['another protocol', 'ftp://x/', /http/],
    ['a script', 'javascript:alert(1)', /http/],
    ['a file', 'file:///etc/passwd', /http/],
    ['credentials', 'https://user:s3cret@host/', /user name or password/],
    ['nonsense', 'https://', /URL/],
    ['nonsense with credentials', 'https://user:s3cret@host:99999/', /URL/],
  ]
  for (const [what, url, message] of refused) {
    it(`${what} is refused synchronously, and no secret is shown`, () => {
      const client = createClient({ journal: false, fetch: scriptedFetch([]) })
      let error: unknown
      try {
        client.post(url).catch(() => {})
      } catch (thrown) {
        error = thrown
      }
      expect(error).toMatchObject({ name: 'ConfigurationError', effect: 'none' })
      expect((error as Error).message).toMatch(message)
      expect((error as Error).message).not.toContain('s3cret')
    })
  }
})

describe('a closed client', () => {
  it('refuses calls with a typed error and sends nothing', async () => {
    const { client, fetch } = scenario([])
    await client.close()
    expect(await failure(client.post('/a'))).toMatchObject({
      name: 'NotSentError',
      code: 'HOLDFAST_CLOSED',
      effect: 'none',
    })
    expect(fetch.calls).toHaveLength(0)
  })
})
