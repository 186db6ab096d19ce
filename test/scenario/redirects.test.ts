import { describe, expect, it } from 'vitest'
import { failure, ORIGIN, scenario } from '../support/client-scenario.ts'

const AWAY = 'https://files.test'

describe('a redirect of a fetch that is given', () => {
  it('is followed on the own origin, with the same key and bytes', async () => {
    const { client, fetch } = scenario([
      { status: 307, headers: { location: '/v2/charges' } },
      { status: 201, json: { id: 1 } },
    ])
    const handle = client.post('/charges', { json: { amount: 5 } })
    const response = await handle
    expect([response.status, response.url, response.redirected]).toEqual([201, `${ORIGIN}/v2/charges`, true])
    expect(fetch.calls.map(({ url, headers, text }) => [url, headers['idempotency-key'], text])).toEqual([
      [`${ORIGIN}/charges`, handle.key, '{"amount":5}'],
      [`${ORIGIN}/v2/charges`, handle.key, '{"amount":5}'],
    ])
  })

  it('is followed to an origin that is trusted', async () => {
    const steps = [{ status: 302, headers: { location: `${AWAY}/receipt` } }, { json: 'receipt' }]
    const { client, fetch } = scenario(steps, { trustedOrigins: [AWAY], accept: ({ ok }) => ok })
    expect(await client.post('/charges', { json: 1 }).json()).toBe('receipt')
    expect(fetch.calls.map(({ method, url }) => [method, url])).toEqual([
      ['POST', `${ORIGIN}/charges`],
      ['GET', `${AWAY}/receipt`],
    ])
  })

  const token = { authorization: 'Bearer ours', 'x-tenant': '7' }
  for (const [what, headers] of [
    ['headers', token],
    ['headers that a function makes', () => token],
  ] as const) {
    it.each(['get', 'post'] as const)(`to an origin that is trusted carries ${what} (%s)`, async (method) => {
      const steps = [{ status: 307, headers: { location: `${AWAY}/v2` } }, { status: 201 }]
      const { client, fetch } = scenario(steps, { trustedOrigins: [AWAY], headers })
      expect((await client[method]('/charges')).status).toBe(201)
      expect(fetch.calls[1]?.headers).toMatchObject(token)
    })
  }

  it('to an origin that is trusted does not carry the credentials of the call, as fetch has it', async () => {
    const steps = [{ status: 307, headers: { location: `${AWAY}/v2` } }, { status: 201 }]
    const { client, fetch } = scenario(steps, { trustedOrigins: [AWAY], headers: token })
    await client.post('/charges', { headers: { authorization: 'Bearer of the call' } })
    expect(fetch.calls[0]?.headers).toMatchObject({ authorization: 'Bearer of the call' })
    expect(fetch.calls[1]?.headers).toMatchObject({ 'x-tenant': '7' })
    expect(fetch.calls[1]?.headers).not.toHaveProperty('authorization')
  })

  it('that comes back from an origin that is not trusted has lost the headers', async () => {
    const third = 'https://third.test'
    const steps = [
      { status: 302, headers: { location: `${third}/a` } },
      { status: 302, headers: { location: `${AWAY}/b` } },
      { status: 200 },
    ]
    const { client, fetch } = scenario(steps, { trustedOrigins: [AWAY], headers: token })
    await client.get('/report')
    for (const call of fetch.calls.slice(1)) expect(call.headers).toEqual({})
    expect(fetch.calls).toHaveLength(3)
  })

  it('is not followed to any other: neither credentials nor the key go there', async () => {
    const steps = [{ status: 302, headers: { location: `${AWAY}/login` }, repeat: true }]
    const { client, fetch } = scenario(steps, { headers: { 'x-api-key': 'secret' }, retry: false })
    const error = await failure(client.post('/charges', { json: 1 }))
    expect(error).toMatchObject({ name: 'IndeterminateError', attempts: [{ fault: 'untrusted-redirect' }] })
    expect(fetch.calls.map(({ url }) => url)).toEqual([`${ORIGIN}/charges`])
  })

  it('of a safe method goes anywhere, without credentials or anything of ours, and is no failure', async () => {
    const { client, fetch, events, clock } = scenario(
      ({ url }) => (url.startsWith(ORIGIN) ? { status: 302, headers: { location: `${AWAY}/file` } } : { body: 'file' }),
      { headers: { 'x-tenant': '7' }, breaker: { openAfter: 8 } },
    )
    for (let n = 0; n < 10; n++) {
      const headers = { authorization: 'Bearer x', accept: 'text/csv' }
      expect(await client.get('/report', { headers }).text()).toBe('file')
      await clock.advance(5)
    }
    expect(fetch.calls).toHaveLength(20)
    expect(fetch.calls[0]?.headers).toMatchObject({ 'x-tenant': '7', authorization: 'Bearer x', accept: 'text/csv' })
    expect(fetch.calls[1]?.headers).toEqual({ accept: 'text/csv' })
    expect(events.filter(({ type }) => type === 'breaker.changed')).toEqual([])
  })

  it.each(['refused', 'dns'] as const)(
    'to a host that can not be reached (%s) never means "not sent"',
    async (fault) => {
      const { client } = scenario([{ status: 303, headers: { location: '/receipt' } }, { fault }], { retry: false })
      const error = await failure(client.post('/charges', { json: 1 }))
      expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
    },
  )

  it('that goes round in a circle ends', async () => {
    const { client, fetch } = scenario([{ status: 307, headers: { location: '/again' }, repeat: true }], {
      retry: false,
    })
    const error = await failure(client.post('/charges', { json: 1 }))
    expect(error).toMatchObject({ effect: 'unknown', attempts: [{ fault: 'too-many-redirects' }] })
    expect(fetch.calls).toHaveLength(21)
  })
})

describe('a connection that is refused', () => {
  it('at the first hop means that nothing was sent', async () => {
    const { client } = scenario([{ fault: 'refused' }], { retry: false })
    expect(await failure(client.post('/charges', { json: 1 }))).toMatchObject({ name: 'NotSentError', effect: 'none' })
  })
})
