import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { json, memoryLedger } from '../../../../src/server/index.ts'
import { sqliteLedger } from '../../../../src/server/sqlite/index.ts'
import { begin, call, type Got, gate, type Sent } from '../caller.ts'
import { CONNECT_SERVICES } from './connect-services.ts'
import { OTHER_SERVICES } from './other-services.ts'
import { open, refused, type Scene, type Serve, type Site } from './site.ts'

const SERVICES: Readonly<Record<string, Serve>> = { ...OTHER_SERVICES, ...CONNECT_SERVICES }
type Service = keyof typeof SERVICES

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const STORES = {
  memory: () => memoryLedger(),
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-adapters-'))
    const store = sqliteLedger({ path: join(folder, 'ledger.db') })
    closing.push(() => rmSync(folder, { recursive: true }))
    return store as never
  },
}

async function scene(service: Service, site: Site, store: keyof typeof STORES = 'memory'): Promise<Scene> {
  const opened = await open(SERVICES[service] as Serve, site, STORES[store]())
  closing.push(opened.close)
  return opened
}

const ORDER: Sent = { key: 'k', body: '{"n":1}', headers: { origin: 'https://shop.example' } }

function ask(at: Scene, sent: Sent = {}): Promise<Got> {
  return send(at, { ...ORDER, ...sent })
}

function send(at: Scene, sent: Sent): Promise<Got> {
  return at.call ? at.call(sent) : call(at.origin, sent)
}

/** Fastify's own timeout ends with the body of a request. */
const askBare = (at: Scene): Promise<Got> => send(at, { key: 'k' })

const isReplay = (got: Got): boolean => got.header('idempotency-replayed') === 'true'
const seen = (got: Got): [number, string, boolean] => [got.status, got.body.toString(), isReplay(got)]
const problem = (got: Got): string =>
  String((JSON.parse(got.body.toString()) as { type: string }).type.split(':').at(-1))

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}

/** What an adapter can't do, and why. */
const EXEMPT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'errors become answers': {
    fetch: 'nothing stands around the handler that makes an answer of an error',
    'node:http': 'the same: without `next`, every error is a 500',
    'node:http2': 'the same',
  },
  sessions: {
    fetch: 'a handler of fetch has no middleware',
    'node:http2': 'express-session needs a method that responses of HTTP/2 lack',
  },
  middleware: { fetch: 'a handler of fetch has no middleware' },
  'headers beside the answer': { fetch: 'a handler of fetch gives its headers with its response' },
  'headers beside an effect': {
    fetch: 'a handler of fetch gives its headers with its response',
  },
  'headers of middleware beside an effect': {
    Hono: 'secureHeaders sets its headers after the work, when the effect is committed',
  },
  'late answer': {},
  timeout: {},
  'double send': { fetch: 'a handler returns one response', Hono: 'a handler returns one response' },
  'own 4xx of external work': {
    'Express 5, in the app': 'the middleware sees only the response: a 4xx may stand for an error',
    'Express 4, in the app': 'the same',
  },
}

const OVER_HTTP_1 = Object.keys(SERVICES).filter((name) => !name.endsWith('2'))

const able = (what: keyof typeof EXEMPT): Service[] =>
  Object.keys(SERVICES).filter((name) => !(name in (EXEMPT[what] ?? {})))

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])('on %s', (store) => {
  describe.each(Object.keys(SERVICES))('%s', (service) => {
    it.each(['by itself', 'in an effect'])('does the work once, and gives its answer again: %s', async (how) => {
      let runs = 0
      const at = await scene(
        service,
        {
          work: async ({ context, body }) => {
            runs++
            const answer = { status: 201, headers: [['x-order', '7']] as [string, string][], body: `did ${body}` }
            if (how === 'by itself') return { ...answer, headers: [...answer.headers, ['content-type', 'text/plain']] }
            await context.effect(() => json({ did: 1 }, { status: 201, headers: { 'x-order': '7' } }))
            return undefined
          },
        },
        store,
      )
      const [first, second] = [await ask(at), await ask(at)]
      expect([first.status, first.header('x-order'), isReplay(first)]).toEqual([201, '7', false])
      expect(second.body.equals(first.body) && first.body.length > 0).toBe(true)
      for (const name of ['content-type', 'x-order']) expect(second.header(name)).toBe(first.header(name))
      expect([second.status, isReplay(second), runs]).toEqual([201, true, 1])
      expect(first.header('idempotency-retention')).toBe('86400')
    })

    it('refuses a request without a key, another request under it, and one that is in flight', async () => {
      const [entered, held] = [gate(), gate()]
      const at = await scene(
        service,
        {
          work: async () => {
            entered.open()
            await held.opened
            return { status: 201, body: 'done' }
          },
        },
        store,
      )
      const { key: _, ...keyless } = ORDER
      const bare = await send(at, keyless)
      expect([bare.status, problem(bare)]).toEqual([400, 'key-missing'])
      const first = ask(at)
      await entered.opened
      const [other, again] = [await ask(at, { body: '{"n":2}' }), await ask(at)]
      expect([other.status, problem(other), again.status, problem(again)]).toEqual([
        422,
        'key-reused',
        409,
        'in-flight',
      ])
      expect(again.header('retry-after')).toBe('1')
      held.open()
      expect((await first).status).toBe(201)
    })

    it.each(['by itself', 'in an effect'])('frees the key of work that throws: %s', async (how) => {
      let runs = 0
      const at = await scene(
        service,
        {
          work: async ({ context }) => {
            if (++runs === 2) return { status: 201, body: 'done' }
            if (how === 'by itself') throw new Error('no')
            await context.effect(() => {
              throw new Error('no')
            })
            return undefined
          },
        },
        store,
      )
      expect((await ask(at)).status).toBe(500)
      expect(await at.state()).toBe('absent')
      expect(seen(await ask(at))).toEqual([201, 'done', false])
    })

    it('sends the answer of an effect although the work throws afterwards', async () => {
      const at = await scene(
        service,
        {
          work: async ({ context }) => {
            await context.effect(() => json({ did: 1 }, { status: 201 }))
            throw new Error('too late')
          },
        },
        store,
      )
      expect(seen(await ask(at))).toEqual([201, '{"did":1}', false])
      expect(seen(await ask(at))).toEqual([201, '{"did":1}', true])
    })

    it('does not repeat external work that throws, and does so once the work says that nothing was done', async () => {
      const work: Site['work'] = async ({ context }) => {
        if (context.key === 'free') context.notDone()
        if (context.key === 'free') return { status: 503, body: 'later' }
        throw refused(402)
      }
      const at = await scene(service, { work, external: true }, store)
      await ask(at)
      const again = await ask(at)
      expect([again.status, problem(again), await at.state()]).toEqual([409, 'outcome-unknown', 'unknown'])
      expect((await ask(at, { key: 'free' })).status).toBe(503)
      await until(async () => (await at.state('free')) === 'absent')
    })

    it('frees the key of an answer that fails midway', async () => {
      let runs = 0
      async function* broken(): AsyncGenerator<string> {
        yield 'one,'
        throw new Error('disk gone')
      }
      const work: Site['work'] = async () => (++runs === 1 ? { status: 201, pieces: broken() } : { body: 'whole' })
      const at = await scene(service, { work }, store)
      const first = await ask(at).catch(() => undefined)
      expect(first === undefined || first.status >= 500).toBe(true)
      await until(async () => (await at.state()) === 'absent')
      expect(seen(await ask(at))).toEqual([200, 'whole', false])
    })

    it('sends an answer that is too large to keep, and then says that it was done', async () => {
      function* pieces(): Generator<string> {
        for (let piece = 0; piece < 40; piece++) yield 'x'.repeat(50_000)
      }
      const at = await scene(service, { work: async () => ({ status: 201, pieces: pieces() }) }, store)
      const [first, second] = [await ask(at), await ask(at)]
      expect([first.status, first.body.length]).toEqual([201, 2_000_000])
      expect([second.status, second.body.length, second.header('idempotency-body')]).toEqual([201, 0, 'omitted'])
    })
  })

  describe.each(able('errors become answers'))('%s', (service) => {
    it.each(['by itself', 'in an effect'])(
      'records a final 4xx that the framework makes of an error: %s',
      async (how) => {
        let runs = 0
        const at = await scene(
          service,
          {
            work: async ({ context }) => {
              runs++
              if (how === 'by itself') throw refused(402)
              await context.effect(() => {
                throw refused(402)
              })
              return undefined
            },
          },
          store,
        )
        const [first, second] = [await ask(at), await ask(at)]
        expect([first.status, second.status, isReplay(second), runs]).toEqual([402, 402, true, 1])
        expect(second.body.equals(first.body)).toBe(true)
        // Shows a client that the key was honoured.
        expect(first.header('idempotency-retention')).toBe('86400')
      },
    )
  })

  describe.each(able('late answer'))('%s', (service) => {
    it.each([false, true])(
      'holds the key while work goes on behind a timeout, and records what it gives: external %s',
      async (external) => {
        const held = gate()
        let runs = 0
        const at = await scene(
          service,
          {
            front: ['timeout'],
            external,
            work: async () => {
              runs++
              await held.opened
              return { status: 201, headers: [['x-order', '7']], body: 'done' }
            },
          },
          store,
        )
        const first = await askBare(at)
        expect(first.status).toBeGreaterThanOrEqual(500)
        const second = await askBare(at)
        expect([second.status, problem(second), await at.state()]).toEqual([409, 'in-flight', 'running'])
        held.open()
        await until(async () => (await at.state()) !== 'running')
        const third = await askBare(at)
        expect([...seen(third), third.header('x-order'), runs]).toEqual([201, 'done', true, '7', 1])
      },
    )
  })

  describe.each(able('timeout'))('%s', (service) => {
    it('holds the key while work goes on behind a timeout, and records its effect', async () => {
      const held = gate()
      let runs = 0
      const work: Site['work'] = async ({ context }) => {
        runs++
        await held.opened
        await context.effect(() => json({ did: 1 }, { status: 201 }))
        return undefined
      }
      const at = await scene(service, { front: ['timeout'], work }, store)
      expect((await askBare(at)).status).toBeGreaterThanOrEqual(500)
      expect([(await askBare(at)).status, await at.state()]).toEqual([409, 'running'])
      held.open()
      await until(async () => (await at.state()) !== 'running')
      expect([...seen(await askBare(at)), runs]).toEqual([201, '{"did":1}', true, 1])
    })

    it('frees the key of work that fails behind a timeout, once it has failed', async () => {
      const held = gate()
      let runs = 0
      const work: Site['work'] = async () => {
        if (++runs > 1) return { status: 201, body: 'done' }
        await held.opened
        throw new Error('no')
      }
      const at = await scene(service, { front: ['timeout'], work }, store)
      expect((await askBare(at)).status).toBeGreaterThanOrEqual(500)
      expect(await at.state()).toBe('running')
      held.open()
      await until(async () => (await at.state()) === 'absent')
      expect(seen(await askBare(at))).toEqual([201, 'done', false])
    })
  })
})

describe.each(able('own 4xx of external work'))('external work of %s', (service) => {
  it('that answers with a final 4xx itself is done', async () => {
    const at = await scene(service, { external: true, work: async () => ({ status: 402, body: 'declined' }) })
    await ask(at)
    expect(seen(await ask(at))).toEqual([402, 'declined', true])
  })
})

describe.each(able('double send'))('%s', (service) => {
  it('answers once, although the work sends twice', async () => {
    const at = await scene(service, { work: async () => ({ body: 'one', again: { body: 'two' } }) })
    expect(seen(await ask(at))).toEqual([200, 'one', false])
    expect(seen(await ask(at))).toEqual([200, 'one', true])
  })
})

describe.each(OVER_HTTP_1)('a caller of %s', (service) => {
  it('who hangs up in the middle of an answer finds it later', async () => {
    const [entered, held] = [gate(), gate()]
    async function* pieces(): AsyncGenerator<string> {
      yield 'one,'
      entered.open()
      await held.opened
      yield 'two'
    }
    const at = await scene(service, { work: async () => ({ status: 201, pieces: pieces() }) })
    const outgoing = begin(at.origin, ORDER)
    outgoing.on('error', () => {}).end(ORDER.body)
    await entered.opened
    outgoing.destroy()
    // The other end has heard of it by the time that it has answered others.
    for (let round = 0; round < 3; round++) await ask(at, { key: '' })
    held.open()
    await until(async () => (await at.state()) === 'done')
    expect(seen(await ask(at))).toEqual([201, 'one,two', true])
  })

  it.each(['nothing', 'an answer'])('who hangs up before work that returns %s does not keep the key', async (what) => {
    const [entered, held] = [gate(), gate()]
    const at = await scene(service, {
      work: async ({ context }) => {
        if (context.key === 'k') entered.open()
        if (context.key === 'k') await held.opened
        if (what === 'nothing') await context.effect(() => json({ did: 1 }, { status: 201 }))
        return what === 'nothing' ? undefined : { status: 201, body: '{"did":1}' }
      },
    })
    const outgoing = begin(at.origin, ORDER)
    outgoing.on('error', () => {}).end(ORDER.body)
    await entered.opened
    outgoing.destroy()
    for (let round = 0; round < 3; round++) await ask(at, { key: '' })
    held.open()
    await until(async () => (await at.state()) === 'done')
    expect(seen(await ask(at))).toEqual([201, '{"did":1}', true])
  })
})

describe.each(able('headers beside the answer'))('%s', (service) => {
  it.each(['by itself', 'in an effect'])(
    'sends cookies and headers of the work with the first answer: %s',
    async (how) => {
      const at = await scene(service, {
        work: async ({ context, header, cookie }) => {
          header('x-trace', 'abc')
          cookie('seen', 'yes')
          if (how === 'by itself') return { status: 201, body: 'done' }
          await context.effect(() => json({ did: 1 }, { status: 201 }))
          return undefined
        },
      })
      const [first, second] = [await ask(at), await ask(at)]
      expect([first.status, first.header('x-trace'), first.header('set-cookie')]).toEqual([
        201,
        'abc',
        expect.stringContaining('seen=yes'),
      ])
      expect([isReplay(second), second.header('set-cookie')]).toEqual([true, undefined])
    },
  )
})

describe.each(OVER_HTTP_1)('%s', (service) => {
  // A parser of HTTP refuses a message that has a length and is chunked.
  it('frames an answer that came in pieces once', async () => {
    const headers: [string, string][] = [
      ['content-type', 'text/plain'],
      ['transfer-encoding', 'chunked'],
      ['trailer', 'x-checksum'],
    ]
    const at = await scene(service, { work: async () => ({ headers, pieces: ['one,', 'two'] }) })
    for (const got of [await ask(at), await ask(at)]) {
      expect([got.status, got.body.toString()]).toEqual([200, 'one,two'])
      expect(got.header('content-length') === undefined || got.header('transfer-encoding') === undefined).toBe(true)
    }
  })
})

describe.each(able('headers beside an effect'))('a replay of %s', (service) => {
  it.each(['by itself', 'in an effect'])('has the headers that were set behind the ledger: %s', async (how) => {
    const at = await scene(service, {
      front: ['security'],
      work: async ({ context, header, cookie }) => {
        header('x-trace', 'abc')
        header('x-order', 'of the work')
        header('etag', '"of another answer"')
        cookie('seen', 'yes')
        const headers: [string, string][] = [['x-order', '7']]
        if (how === 'by itself') return { status: 201, headers: [...headers, ['etag', '"7"']], body: 'done' }
        await context.effect(() => json({ did: 1 }, { status: 201, headers: [...headers, ['etag', '"7"']] }))
        return undefined
      },
    })
    const fields = (got: Got): unknown =>
      ['x-trace', 'x-order', 'etag', 'x-frame-options'].map((name) => got.header(name))
    const [first, second] = [await ask(at), await ask(at, { headers: {} })]
    expect([isReplay(second), second.header('set-cookie')]).toEqual([true, undefined])
    expect(fields(first)).toEqual(['abc', '7', '"7"', 'SAMEORIGIN'])
    expect(fields(second)).toEqual(fields(first))
    const recorded = (await at.ledger.find('public', 'k'))?.answer?.headers.map(([name]) => name)
    expect(recorded).toEqual(expect.arrayContaining(['x-trace', 'x-order', 'etag']))
    // Set anew for each request.
    expect(recorded).not.toContain('x-frame-options')
  })
})

/** The four places of middleware: in front of the ledger or behind it, with and without an effect. */
const PLACES = (['front', 'behind'] as const).flatMap((place) =>
  (['by itself', 'in an effect'] as const).map((how): ['front' | 'behind', 'by itself' | 'in an effect'] => [
    place,
    how,
  ]),
)

const workOf =
  (how: 'by itself' | 'in an effect', text = 'done'): Site['work'] =>
  async ({ context }) => {
    const headers: [string, string][] = [['content-type', 'text/plain']]
    if (how === 'by itself') return { status: 201, headers, body: text }
    await context.effect(() => json(text, { status: 201, headers: { 'content-type': 'text/plain' } }))
    return undefined
  }

describe.each(able('sessions'))('middleware of %s', (service) => {
  it.each(PLACES)('keeps its session: %s, %s', async (place, how) => {
    const at = await scene(service, { [place]: ['session'], work: workOf(how) })
    const [first, second] = [await ask(at), await ask(at)]
    expect([first.status, first.header('set-cookie')]).toEqual([
      201,
      expect.stringMatching(/^(connect\.sid|sessionId)=/),
    ])
    expect([isReplay(second), second.body.equals(first.body)]).toEqual([true, true])
    if (place === 'behind' && !service.startsWith('Fastify')) expect(second.header('set-cookie')).toBeUndefined()
  })
})

describe.each(able('middleware'))('middleware of %s', (service) => {
  it.each(PLACES)('adds its headers last: %s, %s', async (place, how) => {
    const at = await scene(service, { [place]: ['late header'], work: workOf(how) })
    const [first, second] = [await ask(at), await ask(at)]
    expect([first.status, first.header('x-late')]).toEqual([201, 'yes'])
    if (place === 'front') expect([isReplay(second), second.header('x-late')]).toEqual([true, 'yes'])
  })

  it.each(PLACES)('sets the headers of a browser: %s, %s', async (place, how) => {
    const at = await scene(service, { [place]: ['security'], work: workOf(how) })
    const [first, second] = [await ask(at), await ask(at)]
    const browser = (got: Got): unknown => [
      got.header('x-content-type-options'),
      got.header('access-control-allow-origin'),
    ]
    expect([first.status, browser(first)]).toEqual([201, ['nosniff', 'https://shop.example']])
    expect(isReplay(second)).toBe(true)
    if (place === 'front' || how === 'by itself' || able('headers of middleware beside an effect').includes(service)) {
      expect(browser(second)).toEqual(browser(first))
    }
  })

  it.each(PLACES)('compresses for those who accept it: %s, %s', async (place, how) => {
    const text = 'a long answer '.repeat(200)
    const at = await scene(service, { [place]: ['compression'], work: workOf(how, text) })
    const gzip = { headers: { 'accept-encoding': 'gzip' } }
    const plain = (got: Got): string =>
      (got.header('content-encoding') === 'gzip' ? gunzipSync(got.body) : got.body).toString()
    const expected = how === 'by itself' ? text : JSON.stringify(text)
    for (const [key, sent] of [
      ['a', gzip],
      ['b', {}],
    ] as const) {
      const first = await ask(at, { key, ...sent })
      expect([first.status, plain(first)]).toEqual([201, expected])
      if (key === 'b') expect(first.header('content-encoding')).toBeUndefined()
      const again = await ask(at, { key, ...sent })
      expect([again.status, plain(again), isReplay(again)]).toEqual([201, expected, true])
    }
  })

  it.each(PLACES)('never compresses a replay for who does not accept it: %s, %s', async (place, how) => {
    const text = 'a long answer '.repeat(200)
    const at = await scene(service, { [place]: ['compression'], work: workOf(how, text) })
    await ask(at, { headers: { 'accept-encoding': 'gzip' } })
    const again = await ask(at)
    expect([again.header('content-encoding'), isReplay(again)]).toEqual([undefined, true])
    expect(again.body.toString()).toBe(how === 'by itself' ? text : JSON.stringify(text))
  })

  it('may read the body before the ledger or behind it, which recognises the request', async () => {
    const bodies: string[] = []
    const work: Site['work'] = async ({ body }) => {
      bodies.push(body)
      return { status: 201, body: 'done' }
    }
    for (const place of ['front', 'behind']) {
      const at = await scene(service, { [place]: ['parser'], work })
      expect((await ask(at, { body: '{"a":1,"b":[2]}' })).status).toBe(201)
      expect(isReplay(await ask(at, { body: '{ "b": [2.0], "a": 1 }' }))).toBe(true)
      expect((await ask(at, { body: '{"a":2}' })).status).toBe(422)
    }
    expect(bodies).toEqual(['{"a":1,"b":[2]}', '{"a":1,"b":[2]}'])
  })

  it('reads a form with files behind the ledger', async () => {
    const files: string[] = []
    const at = await scene(service, {
      behind: ['form'],
      work: async (exchange) => {
        files.push(...exchange.files)
        return { status: 201, body: 'stored' }
      },
    })
    const form = (boundary: string, content: string): Sent => ({
      type: `multipart/form-data; boundary=${boundary}`,
      body: [
        `--${boundary}`,
        'Content-Disposition: form-data; name="file"; filename="a.txt"',
        'Content-Type: text/plain',
        '',
        content,
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    })
    expect((await ask(at, form('one', 'hello'))).status).toBe(201)
    expect(isReplay(await ask(at, form('another', 'hello')))).toBe(true)
    expect((await ask(at, form('one', 'other'))).status).toBe(422)
    expect(files).toEqual(['hello'])
  })
})
