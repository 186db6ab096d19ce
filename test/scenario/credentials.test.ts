import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CodecError, decodeRecord, encodeRecord } from '../../src/client/operation/codec.ts'
import { systemClock } from '../../src/foundation/clock.ts'
import { type CallOptions, type ClientOptions, type Journal, memoryJournal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import type { PlainStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, ORIGIN, rowsOf, type Scenario, scenario } from '../support/client-scenario.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'
import { freshRecord } from '../support/shared-record.ts'

const MINUTE = 60_000
const HORIZON = 10 * MINUTE
const MARK = 's3cr3t-Zq81'

/** One header for each way of carrying a credential. */
const HEADERS = {
  authorization: `Bearer ${MARK}`,
  cookie: `theme=dark; sid=${MARK}`,
  'x-api-key': MARK,
  'dd-application-key': MARK,
  'x-client-key': MARK,
  'x-key': MARK,
  'x-pin': MARK,
  'x-macaroon': MARK,
  'x-upstream': `Bearer ${MARK}`,
  'x-forward': `Basic ${MARK}`,
  'x-actor': `eyJhbGciOiJIUzI1NiJ9.${MARK}.c2ln`,
  'x-callback': `https://me.test/hook?token=${MARK}`,
}
const PLAIN = { 'x-partition-key': 'p1', 'content-language': 'de' }
const PATH = `/a?page=1&api_key=${MARK}&q=%20x&sig=${MARK};token=${MARK}&next=eyJhbGciOiJIUzI1NiJ9.${MARK}.c2ln`
const CALL: CallOptions = { headers: { ...HEADERS, ...PLAIN }, body: 'amount', id: 'order:1', name: 'charge' }

/** Everything that a thing says, also to who looks where `JSON.stringify` does not. */
function said(thing: unknown): string {
  const all = { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null } as const
  return `${inspect(thing, all)}\n${JSON.stringify(thing)}`
}

function stores(): { name: string; journal: Journal; bytes: () => string }[] {
  const folder = temporaryFolder()
  const journal = sqliteJournal({ path: join(folder, 'operations.db'), durability: 'process' })
  afterwards(() => journal.close())
  const bytes = (): string =>
    readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join()
  return [
    { name: 'memory', journal: memoryJournal(), bytes: () => '' },
    { name: 'SQLite', journal, bytes },
  ]
}

const printed: unknown[] = []

beforeEach(() => {
  printed.length = 0
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...words) => void printed.push(words))
  }
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** How a call can end, and what the network says on the way. */
const ENDINGS: Record<string, { steps: PlainStep[]; options?: ClientOptions }> = {
  'a success after a redirect': { steps: [{ status: 503 }, { status: 201, url: `${ORIGIN}/b?token=${MARK}` }] },
  'a refusal': { steps: [{ status: 404, url: `${ORIGIN}/a?api_key=${MARK}` }] },
  'a fault that names the URL': {
    steps: [
      {
        fault: Object.assign(new TypeError(`request to ${ORIGIN}${PATH} failed`), {
          code: 'ECONNREFUSED',
          cause: new Error(`sent authorization: Bearer ${MARK}`),
        }),
      },
    ],
  },
  'giving up': { steps: [{ status: 503 }], options: { onGiveUp: 'keep' } },
  'an answer with secrets of its own': {
    steps: [
      {
        status: 200,
        headers: { 'set-cookie': `sid=${MARK}`, 'x-next': `Bearer ${MARK}`, location: `/b?x=1&token=${MARK}` },
      },
    ],
  },
}

/** What everybody is told but who called: the caller has the live answer, and what the server put into it. */
async function tellings({ client, events }: Scenario, told: unknown[]): Promise<string> {
  const listed: unknown[] = []
  for await (const view of client.operations()) listed.push(view)
  const found = await client.operation('order:1')
  return [events, told, listed, { ...found, result: undefined }, printed].map(said).join('\n')
}

describe('a credential is sent, but is told to nobody and written nowhere', () => {
  for (const [ending, { steps, options }] of Object.entries(ENDINGS)) {
    it(`with ${ending}`, async () => {
      for (const { name, journal, bytes } of stores()) {
        let onDisk = ''
        const play = (_: unknown, n: number): PlainStep => {
          onDisk += bytes()
          return steps[Math.min(n, steps.length) - 1] ?? {}
        }
        const place = scenario(play, {
          journal,
          // The SQLite journal works on a thread of its own, which no other clock waits for.
          clock: systemClock,
          retry: { base: 1, cap: 1 },
          ...options,
        })
        const told: unknown[] = []
        place.client.onSettled('*', ({ response, ...rest }) => void told.push(rest, response?.url))
        const call = Promise.resolve(place.client.post(PATH, CALL)).then<unknown, unknown>(
          (response) => response.url,
          (error: Error & { response?: Response }) => [
            error.message,
            error.cause,
            error.response?.url,
            { ...error, response: undefined },
          ],
        )
        told.push(await call)
        await place.client.flush()
        for (const sent of place.fetch.calls) {
          expect(sent.url).toBe(ORIGIN + PATH)
          expect(sent.headers).toMatchObject({ ...HEADERS, ...PLAIN })
        }
        expect(place.fetch.calls.length).toBeGreaterThan(0)
        expect(await tellings(place, told)).not.toContain(MARK)
        const rows = said(await rowsOf(journal))
        expect(rows).toContain('order:1')
        expect(rows).toContain('x-partition-key')
        expect(rows).not.toContain(MARK)
        await place.client.close()
        await journal.close()
        if (name === 'SQLite') expect(onDisk).toContain('order:1')
        expect(onDisk + bytes()).not.toContain(MARK)
      }
    })
  }

  it('where a header or a URL is refused', async () => {
    const { client } = scenario([])
    const wrong: (() => unknown)[] = [
      () => client.post('/a', { headers: { [`Authorization: Bearer ${MARK}`]: '' } }),
      () => client.post('/a', { headers: { authorization: `Bearer ${MARK}\n\0x` } }),
      () => client.post(`https://me:${MARK}@api.test/`),
      () => client.post(`https://host:99999/?token=${MARK}`),
    ]
    for (const call of wrong) {
      let error: unknown
      try {
        call()
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(Error)
      expect(said(error).replaceAll(/\n +at .*/g, '')).not.toContain(MARK)
    }
  })

  it('in the answer that a reconcile knows', async () => {
    const { options } = await left('/a')
    const response = Object.defineProperty(new Response('x'), 'url', { value: `${ORIGIN}/a?token=${MARK}` })
    const reconcile = () => ({ status: 'succeeded', response }) as const
    const { client, clock, journal } = scenario([], { ...options, reconcile })
    await clock.advance(HORIZON)
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    expect((await client.post('/a', { id: 'i' })).url).toBe(`${ORIGIN}/a?token=***`)
    expect(said(await rowsOf(journal))).not.toContain(MARK)
  })

  it('where a function that makes headers throws it', async () => {
    const headers = () => {
      throw new Error(`could not refresh with Bearer ${MARK}`)
    }
    expect(said(await failure(scenario([], { headers }).client.post('/a')))).not.toContain(MARK)
  })

  it('in what is not journaled', async () => {
    const { client, fetch, events } = scenario([{ status: 200 }])
    await client.get(PATH, { headers: HEADERS })
    expect(fetch.calls[0]).toMatchObject({ url: ORIGIN + PATH, headers: HEADERS })
    expect(said(events)).not.toContain(MARK)
  })
})

describe('the URL that is written down', () => {
  it('is the one that was given, less the parameters that carry credentials', async () => {
    const { client, journal, events } = scenario([{ status: 200 }])
    await client.post('/a?x=1&token=t&y=%20z&api%5Fkey=k', { id: 'i' })
    const [row] = await rowsOf(journal)
    expect(JSON.parse(row?.head ?? '')).toMatchObject({
      url: `${ORIGIN}/a?x=1&y=%20z`,
      withheld: ['?token', '?api%5Fkey'],
    })
    const shown = `${ORIGIN}/a`
    expect(events[0]).toMatchObject({ url: shown })
    expect(await client.operation('i')).toMatchObject({ url: shown })
  })

  it('is the same for a fresh token, so that the same id joins', async () => {
    const { client, clock, fetch } = scenario([{ status: 200, delay: 10, body: 'x' }])
    const calls = ['old', 'new'].map((token) => client.post(`/a?token=${token}`, { id: 'i' }).text())
    expect(await elapse(clock, 10, Promise.all(calls))).toEqual(['x', 'x'])
    expect(fetch.calls.map((call) => call.url)).toEqual([`${ORIGIN}/a?token=old`])
    expect(await client.post('/a?token=newer', { id: 'i' }).text()).toBe('x')
    expect(await failure(client.post('/a?token=newer&more=1', { id: 'i' }))).toMatchObject({ reason: 'key-reuse' })
  })

  it('is whole for the function that makes headers, which may have to sign it', async () => {
    const seen: string[] = []
    const headers = ({ url }: { url: string }) => {
      seen.push(url)
      return {}
    }
    await scenario([{ status: 200 }], { headers }).client.post('/a?token=t')
    expect(seen).toEqual([`${ORIGIN}/a?token=t`])
  })
})

/** A journal with one operation that was called this way, and that nobody works on any more. */
async function left(path: string, call: CallOptions = {}): Promise<{ key: string; options: ClientOptions }> {
  const place = scenario([{ status: 503 }], { onGiveUp: 'keep', retry: false, horizon: HORIZON })
  const handle = place.client.post(path, { id: 'i', name: 'n', ...call })
  await failure(handle)
  await place.client.close()
  return { key: handle.key, options: { journal: place.journal, clock: place.clock } }
}

const OK = () => ({ status: 200 })
const MINE = { headers: { authorization: 'Bearer mine' } }

describe('the record of an operation', () => {
  const row = encodeRecord(freshRecord())
  const read = (more: object) =>
    decodeRecord(
      { ...row, head: JSON.stringify({ ...JSON.parse(row.head), ...more }) },
      { body: null, responseBody: null },
    )

  it('that says nothing of withheld credentials had none', () => {
    expect(row.head).not.toContain('withheld')
    expect(read({}).request.withheld).toEqual([])
    expect(read({ withheld: ['?token'] }).request.withheld).toEqual(['?token'])
  })

  it.each([['token'], [{}], [[1]], [null]])('whose withheld names are %j is set aside', (withheld) => {
    expect(() => read({ withheld })).toThrow(CodecError)
  })
})

describe('an operation whose call brought credentials', () => {
  it('in its query is not sent by a resume, and keeps nobody else waiting', async () => {
    const { options } = await left('/a?token=t')
    for (const more of [{}, MINE]) {
      const { client, fetch, events } = scenario(OK, { ...options, ...more })
      expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
      expect(fetch.calls).toHaveLength(0)
      expect(await client.operation('i')).toMatchObject({ status: 'pending', reason: 'auth', attempts: 1 })
      expect(events.at(-1)).toMatchObject({ type: 'operation.waiting', reason: 'auth' })
      await client.close()
    }
    await failure(scenario([{ status: 503 }], { ...options, onGiveUp: 'keep', retry: false }).client.post('/b'))
    const { client, fetch } = scenario(OK, options)
    expect(await client.resume()).toMatchObject({ claimed: 2, pending: 1, succeeded: 1 })
    expect(fetch.calls.map((call) => call.url)).toEqual([`${ORIGIN}/b`])
  })

  it('expires at its horizon, in a watch too, which leaves it in peace until then', async () => {
    const { options } = await left('/a?token=t')
    const { client, clock, fetch, events } = scenario(OK, options)
    const told: string[] = []
    client.onSettled('n', ({ status }) => void told.push(status))
    const stop = new AbortController()
    const watching = client.resume({ continuous: true, signal: stop.signal })
    await clock.advance(9 * MINUTE)
    // Once when it is found, and once five minutes later.
    expect(events.filter((event) => event.type === 'operation.waiting')).toHaveLength(2)
    expect(told).toEqual([])
    await clock.advance(2 * MINUTE)
    expect(told).toEqual(['expired'])
    stop.abort()
    expect(await watching).toMatchObject({ expired: 1 })
    expect(fetch.calls).toHaveLength(0)
  })

  it('goes on when it is called again with its id, or with its key', async () => {
    for (const by of ['id', 'key'] as const) {
      const { key, options } = await left('/a?token=old', { headers: { 'x-api-key': 'old' } })
      const { client, fetch } = scenario(OK, options)
      await client.resume()
      const again = client.post('/a?token=new', {
        ...(by === 'id' ? { id: 'i' } : { key }),
        headers: { 'x-api-key': 'new' },
      })
      expect((await again).status).toBe(200)
      expect(fetch.calls).toMatchObject([
        { url: `${ORIGIN}/a?token=new`, headers: { 'x-api-key': 'new', 'idempotency-key': key } },
      ])
    }
  })

  it('that an earlier call did not bring is not sent without them either', async () => {
    const options = { onGiveUp: 'keep', retry: false, horizon: HORIZON } as const
    const place = scenario([{ status: 503 }, { status: 503 }], options)
    await failure(place.client.post('/a', { body: 'x', key: 'k' }))
    await failure(place.client.post('/a', { body: 'x', key: 'k', headers: { authorization: MARK } }))
    await place.client.close()
    const other = scenario([{ status: 201 }], { journal: place.journal, clock: place.clock })
    expect(await other.client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(other.fetch.calls).toHaveLength(0)
  })

  it('in its headers is resumed only by a client whose headers make the same ones', async () => {
    const { key, options } = await left('/a', { headers: { 'x-api-key': 'old' } })
    const lacking = [{}, MINE, { headers: () => ({ authorization: 'Bearer made' }) }, { headers: { 'x-tenant': 't' } }]
    for (const more of lacking) {
      const { client, fetch } = scenario(OK, { ...options, ...more })
      expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
      expect(fetch.calls).toHaveLength(0)
      expect(await client.operation('i')).toMatchObject({ status: 'pending', reason: 'auth', effect: 'unknown' })
      await client.close()
    }
    const { client, fetch } = scenario(OK, { ...options, headers: async () => ({ 'X-API-Key': 'new' }) })
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(fetch.calls).toMatchObject([{ headers: { 'x-api-key': 'new', 'idempotency-key': key } }])
  })

  it('is taken up by a watch that makes them, although a client without them has put it back', async () => {
    const { options } = await left('/a', { headers: { 'x-api-key': 'old' } })
    const bare = scenario(OK, options)
    await bare.client.resume()
    await bare.client.close()
    const { client, clock, fetch } = scenario(OK, { ...options, headers: { 'x-api-key': 'new' } })
    const watching = client.resume({ continuous: true })
    await clock.advance(6 * MINUTE)
    expect(fetch.calls).toHaveLength(1)
    await client.close()
    expect(await watching).toMatchObject({ succeeded: 1 })
  })

  for (const [kind, headers] of [
    ['an object', { authorization: 'Bearer first' }],
    ['a function', () => ({ authorization: 'Bearer first' })],
    ['an async function', async () => ({ authorization: 'Bearer first' })],
  ] as const) {
    it(`by the headers of the client, ${kind}, is not resumed by a client without them`, async () => {
      const journal = memoryJournal()
      const first = scenario([{ hang: true }], { journal, headers })
      first.client.post('/a', { id: 'i' }).catch(() => {})
      await first.clock.advance(1)
      expect(first.fetch.calls).toMatchObject([{ headers: { authorization: 'Bearer first' } }])
      expect(JSON.stringify(await rowsOf(journal))).not.toContain('Bearer')
      const clock = manualClock(first.clock.now() + 31_000)
      const bare = scenario(OK, { journal, clock })
      expect(await bare.client.resume()).toMatchObject({ claimed: 1, pending: 1 })
      expect(bare.fetch.calls).toHaveLength(0)
      const { client, fetch } = scenario(OK, { journal, clock, headers: { authorization: 'Bearer second' } })
      expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
      expect(fetch.calls).toMatchObject([{ headers: { authorization: 'Bearer second' } }])
    })
  }

  it('is not sent by a retry by key, which says what is missing', async () => {
    const { key, options } = await left('/a?token=t', { headers: { 'x-api-key': 'k' } })
    const { client, fetch } = scenario(OK, { ...options, ...MINE })
    const error = await failure(client.retry(key))
    expect(error).toMatchObject({ reason: 'auth', pending: true, effect: 'unknown' })
    expect(String(error.cause)).toMatch(/\?token, x-api-key/)
    expect(fetch.calls).toHaveLength(0)
    expect((await client.post('/a?token=t', { id: 'i' })).status).toBe(200)
  })
})

describe('a prepared operation', () => {
  for (const how of ['persisted', 'sent at once'] as const) {
    it(`that is ${how} is sent with its credentials, which are neither in it nor in its row`, async () => {
      const db = new Database(':memory:')
      const journal = sqliteJournal({ database: db })
      const { client, fetch } = scenario(OK, { journal })
      const prepared = await client.prepare('POST', PATH, CALL)
      expect(said(prepared)).not.toContain(MARK)
      if (how === 'persisted') db.transaction(() => prepared.persist(db))()
      expect((await client.send(prepared)).status).toBe(200)
      expect(fetch.calls).toMatchObject([{ url: ORIGIN + PATH, headers: { ...HEADERS, ...PLAIN } }])
      expect(said(await rowsOf(journal))).not.toContain(MARK)
      await client.close()
      db.close()
    })
  }
})

describe('a retry by key, by a client that may not send it', () => {
  const mine = { authorization: 'Bearer mine' }
  const clients = {
    'has no headers': {},
    'has headers without the credentials': { headers: { 'x-tenant': 'a' } },
    'makes headers without the credentials': { headers: () => ({ 'x-tenant': 'a' }) },
    'has another base': { baseUrl: 'http://127.0.0.1:2', headers: mine },
  } satisfies Record<string, ClientOptions>
  for (const [why, options] of Object.entries(clients)) {
    for (const onGiveUp of ['keep', 'fail'] as const) {
      it(`which ${why}, leaves an operation that was given up with '${onGiveUp}' to those that may`, async () => {
        const first = scenario([{ status: 503 }, { status: 200 }], { onGiveUp, retry: false, headers: mine })
        await failure(first.client.post('/a', { id: 'i' }))
        const { journal, clock } = first
        const { client, fetch, events } = scenario(OK, { journal, clock, ...options })
        const isPending = onGiveUp === 'keep' || why === 'makes headers without the credentials'
        expect(await failure(client.retry('i'))).toMatchObject({
          reason: 'auth',
          pending: isPending,
          effect: 'unknown',
        })
        expect(events.map(({ type }) => type)).not.toContain('operation.settled')
        expect(fetch.calls).toHaveLength(0)
        expect((await client.operation('i'))?.status).toBe(isPending ? 'pending' : 'failed')
        expect((await first.client.retry('i')).status).toBe(200)
      })
    }
  }
})

describe('a retry by key of an operation for another origin', () => {
  const elsewhere = 'http://127.0.0.1:2'

  it('sends nothing if the client has a base, as a resume', async () => {
    const first = scenario([{ status: 503 }], { onGiveUp: 'keep', retry: false, trustedOrigins: [elsewhere] })
    await failure(first.client.post(`${elsewhere}/a`, { id: 'i', body: 'private' }))
    const { journal, clock } = first
    const { client, fetch } = scenario([{ status: 200 }], { journal, clock })
    const error = await failure(client.retry('i'))
    expect(error).toMatchObject({ name: 'IndeterminateError', reason: 'auth' })
    expect(String(error.cause)).toContain(elsewhere)
    expect(fetch.calls).toHaveLength(0)
    const trusting = scenario([{ status: 200 }], { journal, clock, trustedOrigins: [elsewhere] })
    expect((await trusting.client.retry('i')).status).toBe(200)
  })
})
