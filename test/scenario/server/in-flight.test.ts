import { describe, expect, it } from 'vitest'
import { json } from '../../../src/server/index.ts'
import { ask, gate, protectedShop, settleDown } from '../../support/protected-shop.ts'

describe('a duplicate of a request in flight', () => {
  it('is refused at once, with a time to come back', async () => {
    const { serve, clock, orders, order } = protectedShop()
    const held = gate()
    const slow = serve(async (_, { effect }) =>
      effect(async (tx) => {
        order(tx, 'one')
        await held.opened
        return json({ ok: true })
      }),
    )
    const first = slow(ask('k'))
    await settleDown(clock)
    const duplicate = await slow(ask('k'))
    expect([duplicate.status, duplicate.headers.get('retry-after')]).toEqual([409, '1'])
    const other = await slow(ask('k', { body: '{"amount":6}' }))
    expect(other.status).toBe(422)
    held.open()
    expect((await first).status).toBe(200)
    expect((await slow(ask('k'))).headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['one'])
  })

  it('waits for the answer where that was asked for', async () => {
    const { serve, clock, orders, order } = protectedShop({ inFlight: 'wait', waitFor: '2s' })
    const held = gate()
    const slow = serve(async () => {
      await held.opened
      order({ onRollback: () => {} }, 'one')
      return Response.json({ ok: true })
    })
    const first = slow(ask('k'))
    await settleDown(clock)
    const second = slow(ask('k'))
    await clock.advance('1s')
    held.open()
    await clock.advance('100ms')
    expect(await (await second).json()).toEqual(await (await first).json())
    expect((await second).headers.get('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['one'])
  })

  it('waits no longer than allowed', async () => {
    const { serve, clock } = protectedShop({ inFlight: 'wait', waitFor: '2s' })
    const never = serve(() => new Promise(() => {}))
    void never(ask('k'))
    await settleDown(clock)
    const second = never(ask('k'))
    await clock.advance('2s')
    expect((await second).status).toBe(409)
  })

  it('runs itself where the first one fails', async () => {
    const { serve, clock, orders, order } = protectedShop({ inFlight: 'wait' })
    const held = gate()
    let calls = 0
    const handler = serve(async (_, { effect, attempt }) =>
      effect(async (tx) => {
        calls++
        order(tx, `attempt ${attempt}`)
        if (calls === 1) {
          await held.opened
          throw new Error('boom')
        }
        return json({ ok: true })
      }),
    )
    const first = handler(ask('k'))
    first.catch(() => {})
    await settleDown(clock)
    const losers = [handler(ask('k')), handler(ask('k')), handler(ask('k'))]
    await settleDown(clock)
    held.open()
    await clock.advance('1s')
    await expect(first).rejects.toThrow('boom')
    const answers = await Promise.all(losers)
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(orders).toHaveLength(1)
  })
})

describe('requests that wait for one in flight', () => {
  /** A shop whose store counts how often it is asked for a key. */
  function countedShop(waitFor: string) {
    const shop = protectedShop({ inFlight: 'wait', waitFor: waitFor as '10s' })
    const seen = { looks: 0 }
    const { insert } = shop.store
    shop.store.insert = (draft) => {
      seen.looks++
      return insert.call(shop.store, draft)
    }
    return { ...shop, seen }
  }

  it('look at the store less and less often, and one for all of this process', async () => {
    const { serve, clock, seen } = countedShop('10s')
    const never = serve(() => new Promise(() => {}))
    void never(ask('k'))
    await settleDown(clock)
    const waiting = Array.from({ length: 10 }, () => never(ask('k')))
    await settleDown(clock)
    expect(seen.looks).toBe(11)
    await clock.advance('10s')
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(10).fill(409))
    expect(seen.looks).toBeLessThan(11 + 40)
  })

  it('are told when a handler of this process has ended, and share what one of them finds', async () => {
    const { serve, clock, seen } = countedShop('10s')
    const held = gate()
    const slow = serve(async () => {
      await held.opened
      return new Response('done')
    })
    const first = slow(ask('k'))
    await settleDown(clock)
    const waiting = Array.from({ length: 10 }, () => slow(ask('k')))
    await clock.advance('5s')
    const before = seen.looks
    held.open()
    await first
    await settleDown(clock)
    const answers = await Promise.all(waiting)
    expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(Array(10).fill('true'))
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(Array(10).fill('done'))
    expect(seen.looks - before).toBe(1)
    expect(clock.pending()).toBe(0)
  })

  it('go on where the one that looks gives up, fails or has its turn', async () => {
    const { serve, clock, store } = countedShop('2s')
    const held = gate()
    const turns: number[] = []
    const slow = serve(async (_, { attempt }) => {
      turns.push(attempt)
      if (turns.length === 1) await held.opened
      return turns.length === 1 ? new Response(null, { status: 503 }) : new Response('done')
    })
    void slow(ask('k'))
    await settleDown(clock)
    const one = slow(ask('k'))
    await clock.advance('1s')
    const others = [slow(ask('k')), slow(ask('k'))]
    await clock.advance('1s')
    expect((await one).status).toBe(409)
    const { insert } = store
    store.insert = () => {
      store.insert = insert
      return Promise.reject(new Error('down'))
    }
    await clock.advance('600ms')
    held.open()
    await clock.advance('400ms')
    const statuses = (await Promise.all(others)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 503])
    expect(turns).toHaveLength(2)
  })

  it('are answered for another body as ever', async () => {
    const { serve, clock } = countedShop('2s')
    const never = serve(() => new Promise(() => {}))
    void never(ask('k'))
    await settleDown(clock)
    expect((await never(ask('k', { body: '{"amount":6}' }))).status).toBe(422)
  })
})

describe('a claim', () => {
  it('is kept for as long as its handler runs', async () => {
    const { serve, clock } = protectedShop({ lease: '10s' })
    const held = gate()
    const slow = serve(async () => {
      await held.opened
      return new Response('done')
    })
    const first = slow(ask('k'))
    await clock.advance('5m')
    expect((await slow(ask('k'))).status).toBe(409)
    held.open()
    expect(await (await first).text()).toBe('done')
    expect(clock.pending()).toBe(0)
  })

  it('that lapsed goes to the next one, and the first one commits nothing', async () => {
    const { serve, clock, orders, order, store, events } = protectedShop({ lease: '10s' })
    const held = gate()
    const handler = serve(async (_, { effect, attempt, signal }) => {
      if (attempt === 1) await held.opened
      return effect(async (tx) => {
        order(tx, `attempt ${attempt}, ${signal.aborted}`)
        return json({ attempt })
      })
    })
    // A process that stands still: no renewal reaches the store.
    const renew = store.renew
    store.renew = () => new Promise(() => {})
    const first = handler(ask('k'))
    await clock.advance('11s')
    store.renew = renew
    const second = await handler(ask('k'))
    expect(await second.json()).toEqual({ attempt: 2 })
    held.open()
    const late = await first
    expect(late.status).toBe(503)
    expect(orders).toEqual(['attempt 2, false'])
    expect(events.map(({ type }) => type)).toContain('claim.lost')
  })

  it('that is lost aborts its handler', async () => {
    const { serve, clock, store } = protectedShop({ lease: '9s' })
    let reason: unknown
    const handler = serve(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(signal.reason)
          })
        }),
    )
    store.renew = async () => false
    const answer = handler(ask('k'))
    await clock.advance('3s')
    expect((await answer).status).toBe(409)
    expect(reason).toMatchObject({ code: 'HOLDFAST_CLAIM_LOST' })
  })

  it('aborts its handler by its own clock if no renewal is confirmed, before another request can take over', async () => {
    const { serve, placeOrder, clock, store, events } = protectedShop({ lease: '9s' })
    let signal: AbortSignal | undefined
    const handler = serve((_, context) => {
      signal = context.signal
      return new Promise(() => {})
    })
    const renew = store.renew
    store.renew = () => new Promise(() => {})
    void handler(ask('k'))
    await clock.advance(8_999)
    expect([signal?.aborted, (await placeOrder(ask('k'))).status]).toEqual([false, 409])
    await clock.advance(1)
    expect(signal?.aborted).toBe(true)
    store.renew = renew
    expect((await placeOrder(ask('k'))).status).toBe(201)
    expect(signal?.reason).toMatchObject({ code: 'HOLDFAST_CLAIM_LOST' })
    expect(events.map(({ type }) => type)).toContain('claim.lost')
  })

  it.each([
    ['its own', false],
    ["its caller's", true],
  ])('is not lost once its effect is committed in %s transaction', async (_, given) => {
    const { serve, clock, order, events, store } = protectedShop({ lease: '9s' })
    if (given) {
      // The caller's transaction has committed the entry by the time the handler goes on.
      const { transact } = store
      store.transact = (transaction) => transact.call(store, { ...transaction, options: {} })
    }
    let signal: AbortSignal | undefined
    const handler = serve(async (_request, context) => {
      signal = context.signal
      const reply = await context.effect(
        async (tx) => {
          order(tx, 'one')
          return json({ ok: true }, { status: 201 })
        },
        given ? { transaction: {} as never } : {},
      )
      await clock.sleep(30_000)
      return reply
    })
    const answer = handler(ask('k'))
    await clock.advance('31s')
    expect((await answer).status).toBe(201)
    expect([signal?.aborted, events.map(({ type }) => type)]).toEqual([false, ['entry.claimed', 'entry.recorded']])
  })

  it('aborts its handler when its time is over', async () => {
    const { serve, clock } = protectedShop({ timeout: '5s' })
    const handler = serve(
      (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(new Response('late', { status: 504 }))),
        ),
    )
    const answer = handler(ask('k'))
    await clock.advance('5s')
    expect((await answer).status).toBe(504)
  })
})
