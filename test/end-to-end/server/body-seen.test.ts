import express, { type RequestHandler } from 'express'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LedgerStore } from '../../../src/server/adapter/index.ts'
import { idempotent } from '../../../src/server/express/index.ts'
import { createLedger, type LedgerEvent, type MemoryTransaction, memoryLedger } from '../../../src/server/index.ts'
import { call, type Got } from './caller.ts'
import { serving } from './forms.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

let store: LedgerStore<MemoryTransaction>
let runs: number
let events: LedgerEvent[]
beforeEach(() => {
  store = memoryLedger()
  runs = 0
  events = []
})

const LARGE = { limit: '10mb' }
const parsers: readonly RequestHandler[] = [express.json(LARGE), express.urlencoded({ extended: true, ...LARGE })]

/** JSON as some parsers read it: integers that a number would round become BigInts. */
const bigIntJson: RequestHandler = (req, _res, next) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    req.body = { id: BigInt(/\d+/.exec(text)?.[0] ?? 0) }
    next()
  })
}

/** One replica of a service. Before a deploy its parsers stand behind the ledger, after it in front. */
async function replica(inFront: readonly RequestHandler[]): Promise<string> {
  const ledger = createLedger({ store, scope: 'public', observe: (event) => void events.push(event) })
  const app = express().disable('x-powered-by')
  const handler: RequestHandler = (_req, res) => void res.status(201).json({ runs: ++runs })
  app.post('/orders', ...inFront, idempotent(ledger), ...(inFront.length > 0 ? [] : parsers), handler)
  const { origin, close } = await serving(app)
  closing.push(close)
  return origin
}

interface Sent {
  readonly type: string
  readonly body: string
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const long = (spelled: string) => `{${spelled}"text":"${'x'.repeat(300 * 1024)}"}`
const send = (origin: string, sent: Sent): Promise<Got> => call(origin, { key: 'k', ...sent })
const isReplay = ({ status, header }: Got): boolean => status === 201 && header('idempotency-replayed') === 'true'

describe('a parser that is moved to the front of the ledger by a deploy, or behind it,', () => {
  const bothWays = async (): Promise<[string, string][]> => {
    const [behind, inFront] = [await replica([]), await replica(parsers)]
    return [
      [behind, inFront],
      [inFront, behind],
    ]
  }

  it.each<[string, Sent]>([
    ['JSON of more than 256 KiB with blanks', { type: JSON_TYPE, body: long('"amount": 5,') }],
    ['an integer that a number rounds', { type: JSON_TYPE, body: '{"id":9007199254740993}' }],
    ['a fraction that a number rounds', { type: JSON_TYPE, body: '{"rate":0.12345678901234567890}' }],
    ['a number that is out of range', { type: JSON_TYPE, body: '{"rate":1e400}' }],
    ['a key that is there twice', { type: JSON_TYPE, body: '{"a":1,"a":2}' }],
    ['a form', { type: FORM_TYPE, body: 'amount=5&to=bob' }],
  ])('does not refuse a retry for good, nor run it again: %s', async (_, sent) => {
    for (const [before, after] of await bothWays()) {
      runs = 0
      const first = await send(before, sent)
      const again = await send(after, sent)
      expect([first.status, again.status, again.header('retry-after')]).toEqual([201, 503, '5'])
      expect(events.at(-1)).toMatchObject({ type: 'request.refused', reason: 'other-version' })
      expect(isReplay(await send(before, sent))).toBe(true)
      expect(runs).toBe(1)
      await clear()
    }
  })

  it.each<[string, string]>([
    ['small JSON', '{ "amount": 5.0, "to": "b\\u006fb" }'],
    ['JSON with safe integers', '{"id":9007199254740,"list":[1,2.5,-0,1e3]}'],
    ['JSON of more than 256 KiB as JSON.stringify spells it', long('"amount":5,')],
  ])('changes nothing for %s', async (_, body) => {
    for (const [before, after] of await bothWays()) {
      await send(before, { type: JSON_TYPE, body })
      expect(isReplay(await send(after, { type: JSON_TYPE, body }))).toBe(true)
      await clear()
    }
  })

  it('lets another request be told', async () => {
    for (const [before, after] of await bothWays()) {
      await send(before, { type: JSON_TYPE, body: '{"amount":5}' })
      expect((await send(after, { type: JSON_TYPE, body: '{"amount":6}' })).status).toBe(422)
      await clear()
    }
  })

  it('keeps apart what was seen in the same way', async () => {
    const [behind, inFront] = [await replica([]), await replica(parsers)]
    const pairs: [string, Sent, Sent][] = [
      [behind, { type: FORM_TYPE, body: 'a=1' }, { type: FORM_TYPE, body: 'a=2' }],
      [inFront, { type: FORM_TYPE, body: 'a=1' }, { type: FORM_TYPE, body: 'a=2' }],
      [behind, { type: JSON_TYPE, body: '{"a":1}' }, { type: FORM_TYPE, body: 'a=1' }],
      [behind, { type: JSON_TYPE, body: '{"id":9007199254740993}' }, { type: JSON_TYPE, body: '{"id":5}' }],
      [inFront, { type: JSON_TYPE, body: long('"a":1,') }, { type: JSON_TYPE, body: long('"a":2,') }],
    ]
    for (const [origin, one, other] of pairs) {
      await send(origin, one)
      expect((await send(origin, other)).status).toBe(422)
      await clear()
    }
  })
})

describe('a parser that gives BigInts', () => {
  it('does not fail the request, which equals the same one as bytes', async () => {
    const [exact, behind] = [await replica([bigIntJson]), await replica([])]
    const sent = { type: JSON_TYPE, body: '{"id":9007199254740993}' }
    expect((await send(exact, sent)).status).toBe(201)
    expect(isReplay(await send(exact, sent))).toBe(true)
    expect(isReplay(await send(behind, sent))).toBe(true)
    expect((await send(exact, { ...sent, body: '{"id":9007199254740992}' })).status).toBe(422)
  })

  it('is not compared with one that rounds', async () => {
    const [exact, rounding] = [await replica([bigIntJson]), await replica(parsers)]
    const sent = { type: JSON_TYPE, body: '{"id":9007199254740993}' }
    await send(exact, sent)
    expect((await send(rounding, sent)).status).toBe(503)
    expect(runs).toBe(1)
  })
})

describe('a body that a parser reads and nobody can write', () => {
  it('is refused as too large', async () => {
    const inFront = await replica(parsers)
    const depth = 200_000
    const got = await send(inFront, { type: JSON_TYPE, body: `${'['.repeat(depth)}${']'.repeat(depth)}` })
    expect(got.status).toBe(413)
    expect(runs).toBe(0)
  })
})

/** The next request with the key is a first one. */
async function clear(): Promise<void> {
  await store.erase({ scope: 'public', what: 'entries', after: undefined, limit: 10 })
}
