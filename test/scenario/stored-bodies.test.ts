import { describe, expect, it } from 'vitest'
import { KeyReuseError } from '../../src/index.ts'
import { rowsOf, scenario } from '../support/client-scenario.ts'
import { KEPT_MS, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const CARD = '4111111111111111'

describe('the body of a request', () => {
  it.each([
    ['succeeded', { status: 201 }],
    ['rejected', { status: 400 }],
  ])('is gone from the record once the operation has %s', async (status, answer) => {
    const { client, journal } = scenario(() => answer)
    await outcome(client.post('/payments', { json: { card: CARD }, id: 'payment:1' }))
    await client.flush()
    const [row] = await rowsOf(journal)
    expect(row).toMatchObject({ status, body: null })
  })

  it('stays while the operation can be sent again', async () => {
    const { client, journal, fetch } = scenario(() => ({ status: fetch.calls.length > 1 ? 201 : 503 }))
    const call = client.post('/payments', { json: { card: CARD }, retry: false })
    await outcome(call)
    const [row] = await rowsOf(journal)
    expect(new TextDecoder().decode(row?.body ?? undefined)).toContain(CARD)
    expect((await client.retry(call.key)).status).toBe(201)
    expect(fetch.calls[1]?.text).toBe(fetch.calls[0]?.text)
  })

  it('is not needed to join by id: the same request gets the recorded answer, another is refused', async () => {
    const { client, fetch } = scenario(() => ({ status: 201, body: 'done' }))
    const pay = (card: string) => client.post('/payments', { json: { card }, id: 'payment:1' })
    await pay(CARD)
    await client.flush()
    expect(await pay(CARD).text()).toBe('done')
    expect((await outcome(pay('4242'))).error).toBeInstanceOf(KeyReuseError)
    expect(fetch.calls).toHaveLength(1)
  })

  it('is on record again where client.fetch asks anew after a refusal, for a resume after a crash', async () => {
    const place = neighbourhood()
    const headers = { 'idempotency-key': 'payment-1' }
    const pay = { method: 'POST', body: CARD, headers }
    place.server.weather = () => ({ status: 403, body: 'no' })
    expect((await place.client().fetch('/payments', pay)).status).toBe(403)
    await settle(place.clock)
    place.server.weather = () => 'hang-before'
    const dies = place.client()
    void outcome(dies.fetch('/payments', pay))
    await settle(place.clock)
    dies.journal.crash()
    place.server.weather = () => 'fine'
    await place.clock.advance(31_000)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.server.calls.map(({ text }) => text)).toEqual([CARD, CARD, CARD])
  })
})

describe('a record that has outlived its retention', () => {
  it('goes in time, without another call', async () => {
    const place = neighbourhood()
    await place.client().post('/payments', { body: CARD })
    await place.clock.advance(KEPT_MS - 1)
    expect(await rowsOf(place.disk)).toHaveLength(1)
    await place.clock.advance(1)
    expect(await rowsOf(place.disk)).toHaveLength(0)
  })

  it('goes in time once its handler has taken it, and with an id after `retention`', async () => {
    const place = neighbourhood()
    const client = place.client({ retention: '1h' })
    client.onSettled('payment', () => {})
    await client.post('/payments', { body: 'one', name: 'payment' })
    await client.post('/payments', { body: 'two', id: 'payment:2' })
    await place.clock.advance(2 * KEPT_MS)
    expect(await rowsOf(place.disk)).toHaveLength(1)
    await place.clock.advance(3_600_000)
    expect(await rowsOf(place.disk)).toHaveLength(0)
  })

  it('goes when a journal is opened, also by one who only looks', async () => {
    const place = neighbourhood()
    const first = place.client()
    await first.post('/payments', { body: CARD })
    await first.close()
    await place.clock.advance(10 * KEPT_MS)
    expect(await rowsOf(place.disk)).toHaveLength(1)
    await listed(place.client())
    await settle(place.clock)
    expect(await rowsOf(place.disk)).toHaveLength(0)
  })

  it('of an earlier run goes in time, too, while a page that only looked is open', async () => {
    const place = neighbourhood()
    const first = place.client()
    await first.post('/payments', { body: CARD })
    await first.close()
    await listed(place.client())
    await place.clock.advance(KEPT_MS)
    expect(await rowsOf(place.disk)).toHaveLength(0)
  })

  it('leaves no timer that a test, a process or a closed client would wait for', async () => {
    const place = neighbourhood()
    const client = place.client()
    await client.post('/payments', { body: CARD })
    await client.flush()
    expect(place.clock.pending()).toBe(0)
    await client.close()
    const commands = client.journal.commands.length
    await place.clock.advance(10 * KEPT_MS)
    expect(client.journal.commands).toHaveLength(commands)
  })
})

describe('a recorded answer that was too large to keep', () => {
  it('fails as a Response when it is read, with the error of the handle, and has its status', async () => {
    const { client } = scenario(() => ({ status: 201, body: 'x'.repeat(100) }), { maxResponseBytes: 10 })
    const order = () => client.post('/orders', { body: 'one', id: 'order:1' })
    expect(await (await order()).text()).toHaveLength(100)
    await client.flush()
    for (const read of [() => order().json(), async () => (await order()).text(), async () => (await order()).json()]) {
      expect((await outcome(read())).error).toMatchObject({ code: 'HOLDFAST_BODY_OMITTED', effect: 'applied' })
    }
    expect((await order()).status).toBe(201)
  })
})
