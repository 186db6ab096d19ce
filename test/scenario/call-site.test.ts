import { describe, expect, it } from 'vitest'
import type { OperationHandle } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood, outcome, type TestClient } from '../support/shared-clients.ts'

type Made = (client: TestClient) => PromiseLike<unknown>

/** The name of this function is the frame that an error tracker groups by. */
async function orderCheckout(client: TestClient, make: Made): Promise<unknown> {
  return await make(client)
}

/** As `orderCheckout`, but nobody awaits the call itself. */
function basketCheckout(client: TestClient, make: Made): PromiseLike<unknown> {
  return make(client).then(() => 'done')
}

async function stackOf(place: Neighbourhood, make: Made, checkout = orderCheckout): Promise<string> {
  const ended = outcome(checkout(place.client({ retry: { maxAttempts: 2 } }), make))
  await place.clock.advance(60_000)
  return (await ended).error?.stack ?? ''
}

const calls: Readonly<Record<string, Made>> = {
  post: (client) => client.post('/charges', { body: 'one' }),
  get: (client) => client.get('/charges'),
  'json()': (client) => client.get('/charges').json(),
  'text()': (client) => client.post('/charges', { body: 'one' }).text(),
  retry: (client) => client.retry('unknown'),
  fetch: (client) => client.fetch('http://127.0.0.1:1/charges'),
  accepted: (client) => client.post('/charges', { body: endless(), key: 'one' }).accepted,
}

/** A body that never ends: its operation is never accepted. */
function endless(): ReadableStream {
  return new ReadableStream({ pull: () => new Promise(() => {}) })
}

describe('the stack of a rejected call', () => {
  it.each(Object.entries(calls))('of %s has the frame of the caller, once', async (_, make) => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const stack = await stackOf(place, make)
    expect(stack.split('orderCheckout')).toHaveLength(2)
  })

  it.each(Object.entries(calls))('of %s has the frame of who called then, once', async (_, make) => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const stack = await stackOf(place, make, async (client) => await basketCheckout(client, make))
    expect(stack.split('basketCheckout')).toHaveLength(2)
  })

  it.each(['catch', 'finally'] as const)('has the frame of who called %s', async (by) => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    function basketKeeper(client: TestClient): Promise<unknown> {
      const call = client.post('/charges', { body: 'one' })
      return by === 'catch' ? call.catch((error: unknown) => Promise.reject(error)) : call.finally(() => {})
    }
    expect(await stackOf(place, basketKeeper)).toContain('basketKeeper')
  })

  it('has it for an answer that is not what was asked for, too', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 200, body: '<html>' })
    expect(await stackOf(place, (client) => client.get('/charges').json())).toContain('orderCheckout')
  })

  it('is that of the caller itself where the error is its own', async () => {
    const place = neighbourhood()
    const reason = new Error('Changed my mind')
    const { stack } = reason
    const call: OperationHandle = place.client().post('/charges', { body: 'one', signal: AbortSignal.abort(reason) })
    expect((await outcome(call)).error).toBe(reason)
    expect(reason.stack).toBe(stack)
  })
})
