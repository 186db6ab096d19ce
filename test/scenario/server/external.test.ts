import { describe, expect, it } from 'vitest'
import { type IdempotencyContext, json, type MemoryTransaction, type Reply } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const EXTERNAL = { external: true } as const

type Shop = ReturnType<typeof protectedShop>
type Context = IdempotencyContext<MemoryTransaction>

const stateOf = async ({ ledger }: Shop): Promise<string> => (await ledger.find('public', 'k'))?.state ?? 'absent'

/** A handler that charges outside, and then answers with this status. */
function charging(shop: Shop, answer: (context: Context) => Promise<Response | Reply>) {
  let charges = 0
  const handler = shop.serve(async (_, context) => {
    charges++
    return answer(context)
  })
  return { handler, charges: () => charges }
}

const IN_FLIGHT = { type: 'urn:holdfast:problem:in-flight', status: 409 }
const PROBLEM = { 'content-type': 'application/problem+json' }

interface ForNow {
  readonly status: number
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

const FOR_NOW: readonly (readonly [string, ForNow])[] = [
  ...[401, 407, 408, 425, 429, 500, 502, 503, 504].map((status) => [String(status), { status }] as const),
  ['409 of our type', { status: 409, body: IN_FLIGHT, headers: PROBLEM }],
  ['409 with Retry-After', { status: 409, headers: { 'retry-after': '1' } }],
]

const said = ({ body = {}, ...init }: ForNow): Reply => json(body, init)

describe('an external handler that answers for now only', () => {
  it.each(FOR_NOW)('%s: leaves the entry unknown', async (_, forNow) => {
    const { status } = forNow
    const shop = protectedShop({}, EXTERNAL)
    const { handler, charges } = charging(shop, async () => said(forNow))
    expect((await handler(ask('k'))).status).toBe(status)
    expect(await stateOf(shop)).toBe('unknown')
    expect((await handler(ask('k'))).status).toBe(409)
    expect(charges()).toBe(1)
    expect(shop.events).toContainEqual(expect.objectContaining({ type: 'entry.abandoned', status }))
  })

  it.each(FOR_NOW)('%s: leaves it unknown inside of effect too, with its writes undone', async (_, forNow) => {
    const { status } = forNow
    const shop = protectedShop({}, EXTERNAL)
    const { handler, charges } = charging(shop, ({ effect }) =>
      effect((tx) => {
        shop.order(tx, 'undone')
        return said(forNow)
      }),
    )
    expect((await handler(ask('k'))).status).toBe(status)
    expect(await stateOf(shop)).toBe('unknown')
    expect((await handler(ask('k'))).status).toBe(409)
    expect([charges(), shop.orders]).toEqual([1, []])
    expect(shop.events).toContainEqual(expect.objectContaining({ type: 'entry.abandoned', status }))
    expect(shop.events.map(({ type }) => type)).not.toContain('entry.released')
  })

  it('is run again by the next request where onAbandoned says so', async () => {
    const shop = protectedShop({}, { external: true, onAbandoned: 'rerun' })
    const keys: string[] = []
    const { handler, charges } = charging(shop, async ({ attempt, deriveKey }) => {
      keys.push(deriveKey('charge'))
      if (attempt === 1) throw new Error('provider timed out')
      return json({ attempt }, { status: attempt === 2 ? 504 : 201 })
    })
    await expect(handler(ask('k'))).rejects.toThrow('provider timed out')
    expect(await stateOf(shop)).toBe('unknown')
    expect((await handler(ask('k'))).status).toBe(504)
    expect(await stateOf(shop)).toBe('unknown')
    expect(await (await handler(ask('k'))).json()).toEqual({ attempt: 3 })
    expect([charges(), new Set(keys).size, await stateOf(shop)]).toEqual([3, 1, 'done'])
  })

  it('is on record where 5xx answers are the final word', async () => {
    const shop = protectedShop({ store5xx: true }, EXTERNAL)
    const { handler } = charging(shop, async () => json({}, { status: 500 }))
    await handler(ask('k'))
    expect((await handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
  })

  it('stays external where a later version of the handler no longer says so', async () => {
    const shop = protectedShop({}, EXTERNAL)
    const { handler } = charging(shop, async () => json({}, { status: 504 }))
    await handler(ask('k'))
    const later = shop.ledger.protect(async () => json({}, { status: 503 }), { onAbandoned: 'rerun' })
    expect((await later(ask('k'))).status).toBe(503)
    expect(await stateOf(shop)).toBe('unknown')
  })
})

describe('notDone()', () => {
  it.each([401, 429, 503])('said before a %i frees the key', async (status) => {
    const shop = protectedShop({}, EXTERNAL)
    const { handler } = charging(shop, async ({ notDone }) => {
      notDone()
      return json({}, { status })
    })
    expect((await handler(ask('k'))).status).toBe(status)
    expect(await stateOf(shop)).toBe('absent')
    expect(shop.events).toContainEqual(expect.objectContaining({ type: 'entry.released', status }))
  })

  it('said before a throw frees the key', async () => {
    const shop = protectedShop({}, EXTERNAL)
    const { handler } = charging(shop, async ({ notDone }) => {
      notDone()
      throw new Error('refused')
    })
    await expect(handler(ask('k'))).rejects.toThrow('refused')
    expect(await stateOf(shop)).toBe('absent')
  })

  it.each([
    ['before', true],
    ['inside of', false],
  ])('said %s an effect frees the key where that answers for now, or throws', async (_, before) => {
    const shop = protectedShop({}, EXTERNAL)
    let throws = false
    const { handler } = charging(shop, async ({ effect, notDone }) => {
      if (before) notDone()
      return effect(async (tx) => {
        if (!before) notDone()
        shop.order(tx, 'undone')
        if (throws) throw new Error('disk full')
        return json({}, { status: 503 })
      })
    })
    expect((await handler(ask('k'))).status).toBe(503)
    expect(await stateOf(shop)).toBe('absent')
    throws = true
    await expect(handler(ask('k'))).rejects.toThrow('disk full')
    expect([await stateOf(shop), shop.orders]).toEqual(['absent', []])
  })

  it.each([201, 402])('changes nothing about a lasting answer: a %i is on record', async (status) => {
    const shop = protectedShop({}, EXTERNAL)
    const { handler, charges } = charging(shop, async ({ notDone }) => {
      notDone()
      return json({}, { status })
    })
    await handler(ask('k'))
    expect((await handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(charges()).toBe(1)
  })

  it('comes too late after the answer, and says so', async () => {
    const shop = protectedShop({}, EXTERNAL)
    let late: Context | undefined
    const { handler } = charging(shop, async (context) => {
      late = context
      return json({}, { status: 504 })
    })
    await handler(ask('k'))
    expect(() => late?.notDone()).toThrow(expect.objectContaining({ name: 'ConfigurationError' }))
    expect(await stateOf(shop)).toBe('unknown')
  })

  it('comes too late after the effect has ended', async () => {
    const shop = protectedShop({}, EXTERNAL)
    const { handler } = charging(shop, async ({ effect, notDone }) => {
      const reply = await effect(() => json({}, { status: 503 }))
      notDone()
      return reply
    })
    await expect(handler(ask('k'))).rejects.toThrow(/notDone\(\) was called after the answer/)
    expect(await stateOf(shop)).toBe('unknown')
  })

  it('means nothing where the handler is not external, or there is no key', async () => {
    const shop = protectedShop()
    const { handler } = charging(shop, async ({ notDone }) => {
      notDone()
      return json({}, { status: 201 })
    })
    expect((await handler(ask('k'))).status).toBe(201)
    expect((await handler(ask(null, { method: 'GET' }))).status).toBe(201)
    expect((await handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
  })

  it('is only a word about the answer: a process that dies before that leaves the entry unknown', async () => {
    const shop = protectedShop({}, EXTERNAL)
    const { renew } = shop.store
    shop.store.renew = () => new Promise(() => {})
    const dying = shop.serve((_, { notDone }) => {
      notDone()
      return new Promise(() => {})
    })
    void dying(ask('k'))
    await shop.clock.advance('61s')
    shop.store.renew = renew
    await shop.ledger.reap()
    expect(await stateOf(shop)).toBe('unknown')
  })
})

describe('an answer that a downstream ledger gave for now', () => {
  it.each(FOR_NOW.slice(-2))('%s: is not recorded', async (_, forNow) => {
    const shop = protectedShop()
    let runs = 0
    const chain = shop.serve(async (_request, { effect, key }) => {
      const passedOn = ++runs % 2 === 1 ? said(forNow) : json({ done: true }, { status: 201 })
      return key === 'effect' ? effect(() => passedOn) : passedOn
    })
    for (const key of ['plain', 'effect']) {
      expect((await chain(ask(key))).status).toBe(409)
      expect((await chain(ask(key))).status).toBe(201)
    }
  })

  it('but a 409 of its own is', async () => {
    const shop = protectedShop()
    const handler = shop.serve(async () => json({ error: 'sold out' }, { status: 409 }))
    await handler(ask('k'))
    expect((await handler(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
  })
})
