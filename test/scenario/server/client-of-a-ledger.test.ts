import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createClient, type HoldfastEvent, memoryJournal } from '../../../src/index.ts'
import { overloaded } from '../../../src/server/entry/reply.ts'
import { retryContext } from '../../../src/server/http/retry-context.ts'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { failure } from '../../support/client-scenario.ts'

type Handler = Parameters<ReturnType<typeof createLedger>['protect']>[0]

type Wire = (send: () => Promise<Response>) => Promise<Response>

/** Both halves, without a wire between them, or with one that has its own ways. */
function halves(handler: Handler, wire: Wire = (send) => send()) {
  const clock = manualClock()
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', retention: '1h', clock })
  const serve = ledger.protect(handler)
  const events: HoldfastEvent[] = []
  let served = 0
  const client = createClient({
    baseUrl: 'https://api.test',
    journal: memoryJournal(),
    budget: { burst: 10 },
    breaker: false,
    clock,
    observe: (event) => void events.push(event),
    fetch: (input, init) => {
      served++
      return wire(async () => serve(new Request(input, init)))
    },
  })
  return { client, clock, events, served: () => served }
}

describe('the client of a ledger', () => {
  it('believes what the ledger announces, rather than its own options', async () => {
    const { client, clock, events } = halves(() => json({ done: true }, { status: 201 }))
    const at = clock.now()
    expect((await client.post('/charges', { json: {} })).status).toBe(201)
    const told = events.filter(({ type }) => type === 'horizon.shortened')
    expect(told).toMatchObject([{ origin: 'https://api.test', windowMs: 3_600_000, horizonAt: at + 1_200_000 }])
  })

  it('has its work done once where a proxy sends each request twice, at once or after the answer', async () => {
    for (const replays of ['at once', 'later'] as const) {
      let done = 0
      const { client, clock } = halves(
        async (_, { effect }) => {
          await clock.sleep(10)
          return effect(() => json({ done: ++done }, { status: 201 }))
        },
        async (send) => {
          if (replays === 'later') await send()
          const [, second] = await Promise.all(replays === 'later' ? [null, send()] : [send(), send()])
          return second
        },
      )
      const answer = client.post('/charges', { json: {} }).json()
      await clock.advance('1m')
      expect([await answer, done]).toEqual([{ done: 1 }, 1])
    }
  })

  it('does not take an effect in doubt for one that was not begun, though it does not count on keys', async () => {
    const clock = manualClock()
    const store = memoryLedger()
    const transact = store.transact.bind(store)
    store.transact = async (transaction) => {
      await transact(transaction)
      throw new StorageError('The answer of the commit was lost')
    }
    const ledger = createLedger({ store, scope: 'public', clock })
    let done = 0
    const serve = ledger.protect((_, { effect }) => effect(() => json({ done: ++done }, { status: 201 })))
    const client = createClient({
      baseUrl: 'https://api.test',
      journal: memoryJournal(),
      clock,
      honoursKeys: false,
      fetch: async (input, init) => serve(new Request(input, init)),
    })
    expect(await failure(client.post('/charges', { json: {} }))).toMatchObject({ effect: 'unknown' })
    expect(done).toBe(1)
  })

  it('gives up at once where the handler is overloaded', async () => {
    const { client, served } = halves(() => overloaded({ retryAfter: '30s' }))
    expect(await failure(client.post('/charges', { json: {} }))).toMatchObject({ reason: 'do-not-retry' })
    expect(served()).toBe(1)
  })

  it('is held to one attempt where the handler of another one calls it', async () => {
    const inner = halves(() => json({}, { status: 503 }))
    const outer = halves((request) =>
      retryContext.run(
        request,
        async () => {
          await failure(inner.client.post('/charges', { json: {} }))
          return json({}, { status: 502 })
        },
        { clock: inner.clock },
      ),
    )
    const ended = failure(outer.client.post('/orders', { json: {} }))
    await outer.clock.advance('1m')
    expect(await ended).toMatchObject({ reason: 'attempts' })
    expect([outer.served(), inner.served()]).toEqual([5, 5])
  })
})
