import { describe, expect, it } from 'vitest'
import { type IsFinal, type JudgedAnswer, json, memoryLedger, reply } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

/** GraphQL answers 200 also if a resolver failed. */
const withoutErrors: IsFinal = (answer) => (answer.json<{ errors?: unknown }>()?.errors ? false : undefined)

/** A handler that fails at its first run of a key. */
function graphQl(shop: ReturnType<typeof protectedShop>, options = {}) {
  const runs = new Map<string, number>()
  const answer = (key: string) => {
    const run = (runs.get(key) ?? 0) + 1
    runs.set(key, run)
    return json(run === 1 ? { errors: [{ message: 'the database is down' }] } : { data: { run } })
  }
  const plain = shop.ledger.protect(async (_, { key }) => answer(key ?? ''), options)
  const effect = shop.ledger.protect(async (_, context) => {
    return context.effect(async (tx) => {
      shop.order(tx, context.key ?? '')
      return answer(context.key ?? '')
    })
  }, options)
  return { plain, effect }
}

describe('isFinal', () => {
  it.each(['ledger', 'handler'])('frees the key of an answer that is not final (option of the %s)', async (where) => {
    const shop = protectedShop(where === 'ledger' ? { isFinal: withoutErrors } : {})
    const handlers = graphQl(shop, where === 'handler' ? { isFinal: withoutErrors } : {})
    for (const way of ['plain', 'effect'] as const) {
      const first = await handlers[way](ask(way))
      expect([first.status, await first.json()]).toMatchObject([200, { errors: [{}] }])
      expect(await shop.ledger.find('public', way)).toBeUndefined()
      const second = await handlers[way](ask(way))
      expect([await second.json(), second.headers.get('idempotency-replayed')]).toEqual([{ data: { run: 2 } }, null])
      const third = await handlers[way](ask(way))
      expect([await third.json(), third.headers.get('idempotency-replayed')]).toEqual([{ data: { run: 2 } }, 'true'])
    }
    // The first run's writes were rolled back.
    expect(shop.orders).toEqual(['effect'])
  })

  it('holds for atomic handlers', async () => {
    const shop = protectedShop({ isFinal: withoutErrors })
    const atomic = shop.ledger.atomic(async (_, tx) => {
      shop.order(tx, 'undone')
      return json({ errors: [1] })
    })
    await atomic(ask('k'))
    expect(await shop.ledger.find('public', 'k')).toBeUndefined()
    expect(shop.orders).toEqual([])
  })

  it('rolls back an effect without a key, too', async () => {
    const shop = protectedShop({ required: false })
    await graphQl(shop, { isFinal: withoutErrors }).effect(ask(null))
    expect(shop.orders).toEqual([])
  })

  it('leaves external work unknown', async () => {
    const shop = protectedShop()
    await graphQl(shop, { isFinal: withoutErrors, external: true }).plain(ask('k'))
    expect((await shop.ledger.find('public', 'k'))?.state).toBe('unknown')
  })

  it('records a 5xx or a 429 that is final, with its work rolled back', async () => {
    const shop = protectedShop({ isFinal: ({ status }) => status >= 429 })
    let runs = 0
    const handler = shop.serve(async (_, { effect, key }) => {
      runs++
      return effect(async (tx) => {
        shop.order(tx, 'undone')
        return json({}, { status: Number(key) })
      })
    })
    for (const status of [429, 500]) {
      await handler(ask(String(status)))
      const again = await handler(ask(String(status)))
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([status, 'true'])
    }
    expect([runs, shop.orders]).toEqual([2, []])
  })

  it('of the handler wins over that of the ledger', async () => {
    const shop = protectedShop({ isFinal: () => false }, { isFinal: () => true })
    await shop.placeOrder(ask('k'))
    expect((await shop.placeOrder(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
  })

  it('gets status, headers and body, and reads a compressed body', async () => {
    const seen: [number, string | null, unknown, string][] = []
    const isFinal = ({ status, headers, body, ...answer }: JudgedAnswer): boolean => {
      seen.push([status, headers.get('x-kind'), answer.json(), body === null ? 'none' : answer.text()])
      return true
    }
    const shop = protectedShop({ isFinal })
    const { gzipSync } = await import('node:zlib')
    const answers = {
      gzip: reply(gzipSync('{"a":1}'), { headers: { 'content-encoding': 'gzip', 'x-kind': 'zip' } }),
      text: reply('not JSON'),
      none: reply(null, { status: 204 }),
    }
    const handler = shop.serve(async (_, { key }) => answers[key as keyof typeof answers])
    for (const key of Object.keys(answers)) await handler(ask(key))
    expect(seen).toEqual([
      [200, 'zip', { a: 1 }, '{"a":1}'],
      [200, null, undefined, 'not JSON'],
      [204, null, undefined, 'none'],
    ])
  })

  it.each([
    ['throws', () => JSON.parse('no')],
    ['returns a promise', async () => false],
  ])('that %s is reported, and the status decides', async (_, isFinal) => {
    const shop = protectedShop({ isFinal: isFinal as never })
    await shop.placeOrder(ask('k'))
    expect((await shop.placeOrder(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(shop.events.filter(({ type }) => type === 'ledger.failed')).toHaveLength(1)
  })

  it('is refused if it is no function', () => {
    expect(() => protectedShop({ store: memoryLedger() as never, isFinal: true as never })).toThrow(/`isFinal` must be/)
    expect(() => protectedShop().ledger.protect(async () => json({}), { isFinal: 1 as never })).toThrow(
      /`isFinal` must/,
    )
  })
})
