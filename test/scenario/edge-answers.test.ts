import { describe, expect, it } from 'vitest'
import { RejectedError } from '../../src/index.ts'
import { elapse, failure, ORIGIN, scenario } from '../support/client-scenario.ts'
import { leaveKept } from '../support/held-journal.ts'
import { neighbourhood, outcome, settle } from '../support/shared-clients.ts'

describe('what an answer tells', () => {
  it('a 401 gets no second attempt with `retry: false`, although a function makes the headers', async () => {
    const { client, fetch } = scenario([{ status: 401 }, { status: 200 }], {
      retry: false,
      headers: () => ({ authorization: 'Bearer token' }),
    })
    expect(await failure(client.post('/charges', { body: 'one' }))).toMatchObject({ name: 'RejectedError' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('a 429 before a refused connection makes it a rejection: an attempt did reach the server', async () => {
    const { client, clock } = scenario([{ status: 429 }, { fault: 'refused' }], { retry: { maxAttempts: 2 } })
    const error = await elapse(clock, 10_000, failure(client.post('/charges', { body: 'one' })))
    expect(error).toBeInstanceOf(RejectedError)
    expect(error).toMatchObject({ effect: 'none', reason: 'attempts', response: { status: 429 } })
  })

  for (const [status, name] of [
    [429, 'RejectedError'],
    [503, 'IndeterminateError'],
  ] as const) {
    it(`a ${status} of an operation that is kept comes with the error`, async () => {
      const { client } = scenario([{ status, body: 'busy' }], { retry: false, onGiveUp: 'keep' })
      const error = await failure(client.post('/charges', { body: 'one' }))
      expect(error).toMatchObject({ name, pending: true, response: { status } })
    })
  }

  it('a 401 that leaves a resumed operation pending comes with the error of whoever joined it', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    place.server.weather = () => ({ status: 401, delay: 2000 })
    const client = place.client()
    const resumed = client.resume()
    await settle(place.clock)
    const call = outcome(client.retry('order:1'))
    await place.clock.advance(2000)
    expect((await call).error).toMatchObject({ reason: 'auth', pending: true, response: { status: 401 } })
    expect(await resumed).toMatchObject({ claimed: 1, pending: 1 })
  })

  it('a 404 of where a POST was redirected to says nothing about the POST', async () => {
    const { client } = scenario([{ status: 404, url: `${ORIGIN}/receipts/1` }])
    const error = await failure(client.post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })
})
