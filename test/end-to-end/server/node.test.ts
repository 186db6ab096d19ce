import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline as pipelineBack, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createLedger,
  json,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
} from '../../../src/server/index.ts'
import { type Idempotent, nodeHandler } from '../../../src/server/node/index.ts'
import { begin, call, gate } from './caller.ts'
import { serving } from './forms.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Given = Partial<LedgerOptions<MemoryTransaction>> & { readonly scope?: string; readonly authorize?: undefined }

function newLedger(given: Given = {}) {
  return createLedger({ store: memoryLedger(), scope: 'public', ...given, authorize: undefined })
}

async function listen(listener: Parameters<typeof serving>[0]): Promise<string> {
  const { origin, close } = await serving(listener)
  closing.push(close)
  return origin
}

type Handler = (req: Idempotent<IncomingMessage, MemoryTransaction>, res: ServerResponse) => unknown

async function twice(handler: Handler, given?: Given) {
  let runs = 0
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const serve = (req: Idempotent<IncomingMessage, MemoryTransaction>, res: ServerResponse): unknown => {
    runs++
    return handler(req, res)
  }
  const origin = await listen(nodeHandler(newLedger(given), serve, { onError }))
  const first = await call(origin, { key: 'one', body: '{}' })
  const second = await call(origin, { key: 'one', body: '{}' })
  return { first, second, runs, errors, origin }
}

async function* piecesThenFailure(): AsyncGenerator<string> {
  yield 'one,'
  throw new Error('disk gone')
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a response of node:http', () => {
  it.each<[string, Handler]>([
    ['writeHead with a flat list', (_req, res) => void res.writeHead(201, ['x-a', '1', 'x-b', '2']).end('body')],
    ['writeHead with an object', (_req, res) => void res.writeHead(201, { 'X-A': '1', 'X-B': 2 }).end('body')],
    ['writeHead with a reason', (_req, res) => void res.writeHead(201, 'Made', { 'X-A': '1', 'X-B': '2' }).end('body')],
    [
      'setHeader, flushHeaders, writes and callbacks',
      (_req, res) => {
        res.statusCode = 201
        res.setHeader('x-a', '1').setHeader('x-b', ['2'])
        res.flushHeaders()
        res.write('bo', 'utf8', () =>
          res.write(Buffer.from('d'), () => res.end(Buffer.from('y').toString('hex'), 'hex')),
        )
      },
    ],
  ])('is held and comes back: %s', async (_name, handler) => {
    const { first, second, runs } = await twice(handler)
    for (const got of [first, second]) {
      expect([got.status, got.header('x-a'), got.header('x-b'), got.body.toString()]).toEqual([201, '1', '2', 'body'])
    }
    expect([second.header('idempotency-replayed'), runs]).toEqual(['true', 1])
  })

  it('leaves only when it is on record', async () => {
    const held = gate()
    const store = memoryLedger()
    const complete = store.complete.bind(store)
    const asked = gate()
    store.complete = async (...given) => {
      asked.open()
      await held.opened
      return complete(...given)
    }
    const origin = await listen(nodeHandler(newLedger({ store }), (_req, res) => void res.writeHead(201).end('done')))
    let came = false
    const answer = call(origin, { key: 'one', body: '{}' }).then((got) => {
      came = true
      return got
    })
    await asked.opened
    expect((await call(origin, { key: 'two', method: 'GET' })).status).toBe(201)
    expect(came).toBe(false)
    held.open()
    expect((await answer).body.toString()).toBe('done')
  })

  it('knows that it was ended', async () => {
    const seen: unknown[] = []
    const events: string[] = []
    const observe = ({ type }: LedgerEvent): void => void events.push(type)
    const handler: Handler = (_req, res) => {
      seen.push(res.headersSent, res.writableEnded)
      res.end('once')
      seen.push(res.headersSent, res.writableEnded)
      res.setHeader('x-late', '1')
    }
    const { first, errors } = await twice(handler, { observe })
    // It threw, but what it had said before stands.
    expect(events.sort()).toEqual(['entry.claimed', 'entry.recorded', 'entry.replayed', 'handler.failed'])
    expect(first.body.toString()).toBe('once')
    expect(seen.slice(0, 4)).toEqual([false, false, true, true])
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' })])
  })

  it('refuses a status that is none, before anything is recorded', async () => {
    const { first, second, runs } = await twice((_req, res) => res.writeHead(99).end('what'))
    expect([first.status, second.status, runs]).toEqual([500, 500, 2])
    expect(JSON.parse(first.body.toString())).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
    })
  })

  it('sends the reply of an effect whose handler works by callbacks and sends nothing', async () => {
    const { first, second, runs } = await twice((req) => {
      setImmediate(() => void req.idempotency.effect(async () => json({ ok: true }, { status: 201 })))
    })
    for (const got of [first, second]) expect([got.status, got.body.toString()]).toEqual([201, '{"ok":true}'])
    expect(runs).toBe(1)
  })

  it('ignores what is sent after the reply of an effect', async () => {
    const { first, errors } = await twice((req, res) => {
      void req.idempotency
        .effect(() => json({ ok: true }))
        .then(() => res.setHeader('x-late', '1').writeHead(500, { 'x-later': '2' }).end('late'))
    })
    expect([first.status, first.body.toString(), first.header('x-late')]).toEqual([200, '{"ok":true}', undefined])
    expect(errors).toEqual([])
  })

  it('waits for a slow caller', async () => {
    const chunk = Buffer.alloc(64 * 1024)
    const total = 1024
    let written = 0
    const origin = await listen(
      nodeHandler(newLedger(), (_req, res) => {
        const more = (): void => {
          while (written < total) {
            written++
            if (!res.write(chunk)) return void res.once('drain', more)
          }
          res.end()
        }
        more()
      }),
    )
    const outgoing = request(`${origin}/`, {
      method: 'POST',
      agent: false,
      headers: { 'idempotency-key': 'one' },
    }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    // Until all is full that there is between the two.
    for (let seen = -1; seen !== written; await turns(200)) seen = written
    expect(written).toBeLessThan(total / 2)
    let length = 0
    for await (const part of incoming) length += (part as Buffer).length
    expect(length).toBe(total * chunk.length)
  })

  it('is cut off where its handler fails in the middle of what cannot be held', async () => {
    const failed = gate()
    const origin = await listen(
      nodeHandler(
        newLedger(),
        async (_req, res) => {
          res.write('x'.repeat(2_000_000))
          await failed.opened
          throw new Error('no more')
        },
        { onError: () => {} },
      ),
    )
    const outgoing = begin(origin, { key: 'one' }).end()
    const end = new Promise<string>((resolve) => {
      outgoing.on('response', (incoming) => {
        incoming.once('data', failed.open)
        incoming.on('error', ({ message }) => resolve(message))
        incoming.resume().on('end', () => resolve('whole'))
      })
    })
    expect(await end).toBe('aborted')
  })

  it('of a caller who hung up before the handler began still has its body', async () => {
    const held = gate()
    const store = memoryLedger()
    const insert = store.insert.bind(store)
    const asked = gate()
    store.insert = async (draft) => {
      asked.open()
      await held.opened
      return insert(draft)
    }
    const recorded = gate()
    const ledger = newLedger({ store, observe: ({ type }) => type === 'entry.recorded' && recorded.open() })
    const bodies: string[] = []
    const origin = await listen(
      nodeHandler(ledger, async (req, res) => {
        let text = ''
        for await (const chunk of req) text += String(chunk)
        bodies.push(text)
        res.end(text)
      }),
    )
    const outgoing = begin(origin, { key: 'one', body: 'hello' })
    outgoing.on('error', () => {}).end('hello')
    await asked.opened
    outgoing.destroy()
    for (let round = 0; round < 3; round++) await call(origin, { method: 'GET' })
    held.open()
    await recorded.opened
    expect((await call(origin, { key: 'one', body: 'hello' })).body.toString()).toBe('hello')
    expect(bodies.filter((text) => text !== '')).toEqual(['hello'])
  })

  it('of a caller who hung up takes a pipeline as if it were open', async () => {
    const held = gate()
    const entered = gate()
    const recorded = gate()
    const errors: unknown[] = []
    const ledger = newLedger({ observe: ({ type }) => type === 'entry.recorded' && recorded.open() })
    const handler = nodeHandler(
      ledger,
      async (req, res) => {
        if (req.method === 'GET') return void res.end()
        entered.open()
        await held.opened
        await pipeline(Readable.from(['one,', 'two']), res)
      },
      { onError: (error) => errors.push(error) },
    )
    const origin = await listen(handler)
    const outgoing = begin(origin, { key: 'one' })
    outgoing.on('error', () => {}).end()
    await entered.opened
    outgoing.destroy()
    for (let round = 0; round < 3; round++) await call(origin, { method: 'GET' })
    held.open()
    await recorded.opened
    expect((await call(origin, { key: 'one' })).body.toString()).toBe('one,two')
    // That nobody was there in the end is told by the pipeline, when all is done.
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_STREAM_PREMATURE_CLOSE' })])
  })

  it('without a key tells its handler that the caller hung up', async () => {
    const entered = gate()
    const closed = gate()
    const origin = await listen(
      nodeHandler(newLedger(), (_req, res) => {
        res.on('close', closed.open)
        entered.open()
      }),
    )
    const outgoing = begin(origin, { method: 'GET' })
    outgoing.on('error', () => {}).end()
    await entered.opened
    outgoing.destroy()
    await expect(closed.opened).resolves.toBeUndefined()
  })

  const broken = (): Readable =>
    new Readable({
      read() {
        this.destroy(new Error('disk gone'))
      },
    })

  it.each<[string, Handler]>([
    ['by a promise', (_req, res) => pipeline(broken(), res)],
    ['by a callback that nobody looks at', (_req, res) => void pipelineBack(broken(), res, () => {})],
    ['after a piece', (_req, res) => void pipelineBack(Readable.from(piecesThenFailure()), res, () => {})],
    ['by hand', (_req, res) => void res.destroy()],
    ['by hand, with an error', (_req, res) => void setImmediate(() => res.destroy(new Error('enough')))],
  ])('that its handler destroys is a failure of the handler: %s', async (_name, handler) => {
    const [events, errors]: [string[], unknown[]] = [[], []]
    let failed = gate()
    const observe = ({ type }: LedgerEvent): void => void events.push(type)
    const given = { observe, lease: '3s' } as const
    for (const external of [false, true]) {
      events.length = 0
      errors.length = 0
      failed = gate()
      const ledger = newLedger({ ...given, external })
      const onError = (error: unknown): void => {
        errors.push(error)
        failed.open()
      }
      const origin = await listen(nodeHandler(ledger, handler, { onError }))
      await expect(call(origin, { key: 'one', body: '{}' })).rejects.toThrow()
      await failed.opened
      expect(events).toEqual(['entry.claimed', external ? 'entry.abandoned' : 'entry.released'])
      expect((await ledger.find('public', 'one'))?.state).toBe(external ? 'unknown' : undefined)
      await turns(20)
      expect(errors).toHaveLength(1)
    }
  })

  it('of a caller who hung up, that its handler then destroys, is a failure of the handler', async () => {
    const [entered, held, released] = [gate(), gate(), gate()]
    const ledger = newLedger({ observe: ({ type }) => type === 'entry.released' && released.open() })
    const handler: Handler = async (req, res) => {
      if (req.method === 'GET') return void res.end()
      entered.open()
      await held.opened
      await pipeline(broken(), res)
    }
    const origin = await listen(nodeHandler(ledger, handler, { onError: () => {} }))
    const outgoing = begin(origin, { key: 'one' })
    outgoing.on('error', () => {}).end()
    await entered.opened
    outgoing.destroy()
    for (let round = 0; round < 3; round++) await call(origin, { method: 'GET' })
    held.open()
    await released.opened
    expect(await ledger.find('public', 'one')).toBeUndefined()
  })

  it('that its handler destroys after its effect leaves the effect and its answer', async () => {
    const ledger = newLedger()
    const handler: Handler = async (req, res) => {
      await req.idempotency.effect(() => json({ ok: true }, { status: 201 }))
      res.destroy()
    }
    const origin = await listen(nodeHandler(ledger, handler, { onError: () => {} }))
    await expect(call(origin, { key: 'one', body: '{}' })).rejects.toThrow()
    const again = await call(origin, { key: 'one', body: '{}' })
    expect([again.status, again.header('idempotency-replayed')]).toEqual([201, 'true'])
  })

  it.each<[string, () => Response, string]>([
    ['whole', () => Response.json({ ok: true }, { status: 201, headers: { 'x-a': '1' } }), '{"ok":true}'],
    ['without a body', () => new Response(null, { status: 204, headers: { 'x-a': '1' } }), ''],
  ])('is a Response that the handler returns: %s', async (_name, answer, body) => {
    const { first, second, runs } = await twice(async () => answer())
    for (const got of [first, second]) {
      expect([got.status, got.header('x-a'), got.body.toString()]).toEqual([answer().status, '1', body])
    }
    expect([second.header('idempotency-replayed'), runs]).toEqual(['true', 1])
    const origin = await listen(nodeHandler(newLedger(), async () => answer()))
    expect((await call(origin, { method: 'GET' })).header('x-a')).toBe('1')
  })

  it('is a Response that the handler returns, also where it is too large to be held', async () => {
    const large = 'x'.repeat(3_000_000)
    const { first, second, runs } = await twice(async () => new Response(large, { headers: { 'x-a': '1' } }))
    expect([first.header('x-a'), first.body.toString() === large, runs]).toEqual(['1', true, 1])
    expect([second.header('idempotency-body'), second.body.length]).toEqual(['omitted', 0])
  })

  it('is the reply of an effect, whatever Response the handler returns', async () => {
    const { first, errors } = await twice(async (req) => {
      await req.idempotency.effect(() => json({ ok: true }, { status: 201 }))
      return new Response('another')
    })
    expect([first.status, first.body.toString(), errors]).toEqual([201, '{"ok":true}', []])
  })

  it('needs a handler, and says so at once', () => {
    expect(() => nodeHandler(newLedger(), undefined as never)).toThrow('nodeHandler() needs a handler')
    expect(() => nodeHandler(newLedger(), { external: true } as never)).toThrow('nodeHandler() needs a handler')
    expect(() => newLedger().protect(undefined as never)).toThrow('protect() needs a handler')
  })

  it('is not needed by a request that was cut off', async () => {
    let runs = 0
    const errors: unknown[] = []
    const handler = nodeHandler(newLedger(), () => runs++, { onError: (error) => errors.push(error) })
    const over = gate()
    const origin = await listen((req, res) => void handler(req, res).then(over.open))
    const outgoing = begin(origin, { key: 'one', body: 'hello' })
    outgoing.on('error', () => {}).write('he', () => outgoing.destroy())
    await over.opened
    expect([runs, errors]).toEqual([0, []])
  })
})

describe('a route of Express', () => {
  function app(build: (app: express.Express) => void): Promise<string> {
    const server = express()
    server.disable('x-powered-by')
    build(server)
    server.use(telling)
    return listen(server)
  }

  // biome-ignore lint/complexity/useMaxParams: Express knows it by its four parameters
  const telling: express.ErrorRequestHandler = (error, _req, res, _next) => {
    res
      .status(500)
      .set('x-error', String((error as Error).message))
      .send('failed')
  }

  const counter = (): { runs: number } => ({ runs: 0 })

  it.each<[string, (res: express.Response) => unknown, string]>([
    ['json', (res) => res.status(201).json({ b: 1, a: [null] }), '{"b":1,"a":[null]}'],
    ['send of a text', (res) => res.status(201).send('<b>hi</b>'), '<b>hi</b>'],
    ['send of bytes', (res) => res.status(201).send(Buffer.from('bytes')), 'bytes'],
    ['sendStatus', (res) => res.sendStatus(201), 'Created'],
    ['redirect', (res) => res.redirect(303, '/there'), 'See Other. Redirecting to /there'],
  ])('comes back: %s', async (_name, answer, body) => {
    const seen = counter()
    const ledger = newLedger()
    const origin = await app((server) => {
      server.post(
        '/orders',
        express.json(),
        nodeHandler(ledger, (_req, res: express.Response) => {
          seen.runs++
          answer(res)
        }),
      )
    })
    const [first, second] = [await call(origin, { key: 'k', body: '{}' }), await call(origin, { key: 'k', body: '{}' })]
    expect(first.body.toString()).toBe(body)
    expect(second.body.equals(first.body)).toBe(true)
    for (const name of ['content-type', 'etag', 'location']) expect(second.header(name)).toBe(first.header(name))
    expect([second.status, seen.runs]).toEqual([first.status, 1])
  })

  it('may send a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-file-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'receipt.txt'), 'r'.repeat(100_000))
    const seen = counter()
    const origin = await app((server) => {
      server.post(
        '/orders',
        nodeHandler(newLedger(), (_req, res: express.Response) => {
          seen.runs++
          res.sendFile('receipt.txt', { root: folder })
        }),
      )
    })
    const [first, second] = [await call(origin, { key: 'k' }), await call(origin, { key: 'k' })]
    expect(first.body.length).toBe(100_000)
    expect([second.body.equals(first.body), second.header('etag'), seen.runs]).toEqual([true, first.header('etag'), 1])
  })

  it.each<[string, string, [express.RequestHandler, string, string, string]]>([
    ['json', 'application/json', [express.json(), '{"a":1,"b":2}', '{"b":2, "a":1.0}', '{"a":1,"b":3}']],
    ['urlencoded', 'application/x-www-form-urlencoded', [express.urlencoded(), 'a=1&b=2', 'b=2&a=1', 'a=1&b=3']],
    ['text', 'text/plain', [express.text(), 'one', 'one', 'two']],
    ['raw', 'application/octet-stream', [express.raw(), 'one', 'one', 'two']],
  ])('understands what express.%s has made of a body', async (_name, type, [parser, body, same, other]) => {
    const origin = await app((server) => {
      server.post(
        '/orders',
        parser,
        nodeHandler(newLedger(), (_req, res: express.Response) => void res.json('ok')),
      )
    })
    expect((await call(origin, { key: 'k', type, body })).status).toBe(200)
    expect((await call(origin, { key: 'k', type, body: same })).header('idempotency-replayed')).toBe('true')
    expect((await call(origin, { key: 'k', type, body: other })).status).toBe(422)
  })

  it('knows a request again, whether a parser stands before or behind the ledger', async () => {
    const ledger = newLedger()
    const answer = (req: express.Request, res: express.Response): void => void res.json({ got: req.body as unknown })
    const before = await app((server) => server.post('/orders', express.json(), nodeHandler(ledger, answer)))
    const behind = await app((server) => {
      server.post(
        '/orders',
        nodeHandler(ledger, (_req, _res, next) => next()),
        express.json(),
        answer,
      )
    })
    const body = '{"n": 1.50, "text": "\\u00e9", "list": [1e2, true, null]}'
    const first = await call(before, { key: 'a', body })
    const second = await call(behind, { key: 'a', body })
    expect([second.header('idempotency-replayed'), second.body.toString()]).toEqual(['true', first.body.toString()])
    expect((await call(behind, { key: 'b', body })).body.toString()).toBe(first.body.toString())
    expect((await call(before, { key: 'b', body })).header('idempotency-replayed')).toBe('true')
  })

  it('knows its whole path where its router is mounted', async () => {
    const ledger = newLedger()
    const origin = await app((server) => {
      const router = express.Router()
      router.post(
        '/orders',
        nodeHandler(ledger, (_req, res: express.Response) => void res.send('ok')),
      )
      server.use('/a', router).use('/b', router)
    })
    expect((await call(origin, { key: 'k', path: '/a/orders' })).status).toBe(200)
    expect((await call(origin, { key: 'k', path: '/b/orders' })).status).toBe(422)
    expect((await ledger.find('public', 'k'))?.path).toBe('/a/orders')
  })

  it.each([
    ['a body', 'application/json', 'put the ledger before what reads it'],
    ['a form', 'multipart/form-data; boundary=x', 'put the ledger before what reads the form'],
  ])('says what to do where %s was read away', async (_name, type, sentence) => {
    const seen = counter()
    const origin = await app((server) => {
      server.use((req, _res, next) => void req.resume().on('end', next))
      server.post(
        '/orders',
        nodeHandler(newLedger(), () => seen.runs++),
      )
    })
    const got = await call(origin, { key: 'k', type, body: '{}' })
    expect([got.status, seen.runs]).toEqual([500, 0])
    expect(got.header('x-error')).toContain(sentence)
  })

  it('hands errors to the error handlers, and nothing of what was said before', async () => {
    const seen = counter()
    const origin = await app((server) => {
      server.post(
        '/orders',
        nodeHandler(newLedger(), (_req, res: express.Response, next) => {
          seen.runs++
          res.status(201).set('x-half', 'yes')
          res.write('half')
          next(new Error('stop'))
        }),
      )
    })
    for (const got of [await call(origin, { key: 'k' }), await call(origin, { key: 'k' })]) {
      expect([got.status, got.header('x-half'), got.header('x-error')]).toEqual([500, undefined, 'stop'])
      expect(got.body.toString()).toBe('failed')
    }
    expect(seen.runs).toBe(2)
  })

  it.each([
    ['before', 'small', 10],
    ['before', 'large', 40_000],
    ['behind', 'small', 10],
    ['behind', 'large', 40_000],
  ])('gets on with who wraps the response %s the ledger: %s', async (where, _size, count) => {
    /** As compression does it. */
    const louder: express.RequestHandler = (_req, res, next) => {
      const { write, end } = res
      const loud = (chunk: unknown): unknown => (chunk ? String(chunk).toUpperCase() : chunk)
      Object.assign(res, {
        write: (chunk: unknown) => write.call(res, loud(chunk), 'utf8'),
        end: (chunk: unknown) => end.call(res, loud(chunk), 'utf8'),
      })
      next()
    }
    const protect = nodeHandler(newLedger(), (_req, _res, next) => next())
    const answer: express.RequestHandler = (_req, res) => {
      Readable.from(Array.from({ length: count }, (_, index) => `${'ab'.repeat(32)}${index},`)).pipe(res)
    }
    const stack = where === 'before' ? [louder, protect, answer] : [protect, louder, answer]
    const origin = await app((server) => server.post('/orders', ...(stack as express.RequestHandler[])))
    const expected = Array.from({ length: count }, (_, index) => `${'AB'.repeat(32)}${index},`).join('')
    expect((await call(origin, { key: 'k' })).body.toString()).toBe(expected)
    const again = await call(origin, { key: 'k' })
    expect(again.header('idempotency-replayed')).toBe('true')
    expect(again.body.toString()).toBe(count === 10 ? expected : '')
  })

  it('does not keep what is said in front of it', async () => {
    let requests = 0
    const origin = await app((server) => {
      server.use((_req, res, next) => {
        res.set({ 'x-request-id': String(++requests), vary: 'Origin' })
        next()
      })
      server.post(
        '/orders',
        nodeHandler(newLedger(), (_req, res: express.Response) => {
          res.vary('Accept').set('x-order', '7').send('ok')
        }),
      )
    })
    const [first, second] = [await call(origin, { key: 'k' }), await call(origin, { key: 'k' })]
    expect([first.header('x-request-id'), second.header('x-request-id')]).toEqual(['1', '2'])
    for (const got of [first, second])
      expect([got.header('vary'), got.header('x-order')]).toEqual(['Origin, Accept', '7'])
  })
})
