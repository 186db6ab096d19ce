import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../src/index.ts'
import { rowsOf } from '../support/client-scenario.ts'
import { street } from '../support/fake-coordination.ts'
import { isSettled, neighbourhood, outcome, settle, type TestClient } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** A browser: everybody who uses it shares its cookies, and so whoever is logged in. */
function browser() {
  const place = neighbourhood()
  const user = { name: 'alice' }
  const session = (): string => user.name
  const page = (options = {}): TestClient => place.client({ session, ...options })
  return { ...place, place, user, session, page }
}

async function viewOf(client: TestClient, key: string): Promise<unknown> {
  const found = await client.operation(key)
  return found && { status: found.status, effect: found.effect, reason: found.reason }
}

/** Alice's first attempt was answered 503, and her call waits for the next one while Bob logs in. */
async function whileBobLogsIn() {
  const there = browser()
  const { server, clock, user, page } = there
  server.weather = () => ({ status: 503 })
  const alice = page({ retry: { base: 5000, jitter: 'none' } })
  const handle = alice.post('/orders', { body: 'a lamp' })
  const call = outcome(handle)
  await settle(clock)
  expect(server.calls).toHaveLength(1)
  server.weather = () => 'fine'
  user.name = 'bob'
  return { ...there, alice, call, key: handle.key }
}

describe('an operation of a user whose session has ended', () => {
  it('is not sent by its own call: it stays pending, reason auth', async () => {
    const { clock, server, alice, call, key } = await whileBobLogsIn()
    await clock.advance(10_000)
    expect(server.calls).toHaveLength(1)
    expect((await call).error).toMatchObject({ reason: 'auth', effect: 'unknown', pending: true })
    expect(await viewOf(alice, key)).toEqual({ status: 'pending', effect: 'unknown', reason: 'auth' })
  })

  it('is sent by no resume until that user is back', async () => {
    const { clock, server, user, page, call } = await whileBobLogsIn()
    await clock.advance(10_000)
    await call
    expect(await page().resume()).toMatchObject({ claimed: 1, pending: 1 })
    const watching = page()
    void watching.resume({ continuous: true })
    await clock.advance(600_000)
    await watching.close()
    expect(server.calls).toHaveLength(1)
    user.name = 'alice'
    expect(await page().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(server)).toBe(1)
  })

  it('is not sent by a client that does not know who is logged in', async () => {
    const { clock, server, place, call } = await whileBobLogsIn()
    await clock.advance(10_000)
    await call
    expect(await place.client().resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(server.calls).toHaveLength(1)
  })

  it('is not sent for another who calls with its id, nor by retry', async () => {
    const { clock, server, page, call, key } = await whileBobLogsIn()
    await clock.advance(10_000)
    await call
    expect((await outcome(page().retry(key))).error).toMatchObject({ reason: 'auth', pending: true })
    expect(server.calls).toHaveLength(1)
  })

  it('is not sent where the other one has logged in while its headers were made', async () => {
    const { clock, server, user, page } = browser()
    let made = (): void => {}
    const headers = (): Promise<object> => new Promise((resolve) => (made = () => resolve({})))
    const call = outcome(page({ headers }).post('/orders', { body: 'a lamp' }))
    await settle(clock)
    user.name = 'bob'
    made()
    await settle(clock)
    expect((await call).error).toMatchObject({ reason: 'auth', effect: 'none', pending: true })
    expect(server.calls).toHaveLength(0)
  })
})

describe('the answer to another user', () => {
  const lamp = { body: 'a lamp', id: 'order:1' }
  const asked: Readonly<Record<string, (client: TestClient) => PromiseLike<unknown>>> = {
    'a call with its id': (client) => client.post('/orders', lamp),
    retry: (client) => client.retry('order:1'),
    'its handle': async (client) => (await client.operation('order:1'))?.result,
  }

  for (const [what, ask] of Object.entries(asked)) {
    for (const [how, status] of [
      ['recorded', 201],
      ['recorded as a refusal', 403],
    ] as const) {
      it(`that is ${how} is not given by ${what}`, async () => {
        const { server, user, page, place } = browser()
        server.weather = () => ({ status, body: 'private' })
        const alice = page()
        await outcome(alice.post('/orders', lamp))
        await alice.flush()
        user.name = 'bob'
        for (const client of [page(), alice, place.client()]) {
          const { error } = await outcome(ask(client))
          expect(error).toMatchObject({ reason: 'auth', effect: 'unknown', pending: false, attempts: [] })
          expect(error).toHaveProperty('cause.message', expect.stringContaining('Another user'))
          expect((error as { response?: Response }).response).toBeUndefined()
        }
        user.name = 'alice'
        expect((await outcome(ask(page()))).error?.reason).not.toBe('auth')
        expect(server.calls).toHaveLength(1)
      })
    }

    it(`that is on its way is not given by ${what}`, async () => {
      const { clock, server, user, page } = browser()
      server.weather = () => ({ fault: 'refused' })
      const alice = page({ retry: { base: 5000, jitter: 'none' } })
      const call = outcome(alice.post('/orders', lamp))
      await settle(clock)
      user.name = 'bob'
      const bobs = outcome(ask(alice))
      const others = outcome(ask(page()))
      await settle(clock)
      user.name = 'alice'
      server.weather = () => 'fine'
      await clock.advance(60_000)
      expect((await call).value?.status).toBe(201)
      for (const { error } of [await bobs, await others]) expect(error).toMatchObject({ reason: 'auth', pending: true })
    })
  }
})

describe('the option session', () => {
  it('puts a hash on record, not the id, and the same one each time', async () => {
    const { disk, page, clock } = browser()
    await page().post('/orders', { body: 'a lamp' })
    await page().post('/orders', { body: 'a chair' })
    await settle(clock)
    const heads = (await rowsOf(disk)).map(({ head }) => JSON.parse(head).session as string)
    expect(heads[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(heads).size).toBe(1)
    expect(JSON.stringify(await rowsOf(disk))).not.toContain('alice')
  })

  it('sends what was accepted without it', async () => {
    const { server, place, page } = browser()
    server.weather = () => ({ status: 503 })
    await outcome(place.client({ retry: false, onGiveUp: 'keep' }).post('/orders', { body: 'a lamp' }))
    server.weather = () => 'fine'
    expect(await page().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('ends a read that would be made for another user, which nothing is left of', async () => {
    const { clock, server, user, page } = browser()
    server.weather = () => ({ status: 503 })
    const call = outcome(page({ retry: { base: 5000, jitter: 'none' } }).get('/orders'))
    await settle(clock)
    user.name = 'bob'
    await clock.advance(10_000)
    expect((await call).error).toMatchObject({ reason: 'auth', pending: false })
    expect(server.calls).toHaveLength(1)
  })

  it('says in words that nothing masks that another user is logged in', async () => {
    const { user, page } = browser()
    const headers = (): object => {
      user.name = 'bob'
      return {}
    }
    const { error } = await outcome(page({ headers }).get('/orders'))
    expect(error?.message).toContain('other-session: Another user is logged in')
  })

  it('that throws, or gives no text, ends the call before anything is written', async () => {
    const { server, disk, place } = browser()
    const broken = place.client({
      session: () => {
        throw new Error('no cookie, password=hunter2')
      },
    })
    for (const made of [broken.post('/orders', { body: 'a lamp', id: 'order:1' }), broken.prepare('POST', '/orders')]) {
      const { error } = await outcome<unknown>(made)
      expect(error).toBeInstanceOf(ConfigurationError)
      expect(error).toMatchObject({ effect: 'none', cause: { message: 'no cookie, password=***' } })
      expect(error?.message).toBe(
        'The option `session` threw: no cookie, password=***. Nothing was written or sent for this call',
      )
    }
    const wrong = place.client({ session: () => 42 as unknown as string })
    expect((await outcome(wrong.post('/orders', { body: 'a lamp' }))).error).toBeInstanceOf(ConfigurationError)
    expect(server.calls).toHaveLength(0)
    expect(await rowsOf(disk)).toEqual([])
  })

  it('that throws later leaves the operation pending', async () => {
    const { clock, server, place } = browser()
    server.weather = () => ({ status: 503 })
    let isBroken = false
    const session = (): string => {
      if (isBroken) throw new Error('no cookie')
      return 'alice'
    }
    const call = outcome(
      place.client({ session, retry: { base: 5000, jitter: 'none' } }).post('/orders', { body: 'a lamp' }),
    )
    await settle(clock)
    isBroken = true
    await clock.advance(10_000)
    expect((await call).error).toMatchObject({ reason: 'auth', pending: true, cause: { message: 'no cookie' } })
    expect(server.calls).toHaveLength(1)
  })
})

describe('forget in one tab', () => {
  it('ends at once what waits for its next attempt in another tab', async () => {
    const place = neighbourhood()
    const { neighbour } = street()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '5' } })
    const waiting = outcome(place.client({}, neighbour()).post('/orders', { body: 'a lamp' }))
    const others = outcome(place.client({ namespace: 'bob' }, neighbour()).post('/orders', { body: 'a chair' }))
    await settle(place.clock)
    await place.client({}, neighbour()).forget()
    expect(await isSettled(waiting, place.clock)).toBe(true)
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_RECORD_GONE' })
    expect(await isSettled(others, place.clock)).toBe(false)
    expect(place.server.calls).toHaveLength(2)
  })
})
