import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import { ConfigurationError, createClient } from '../../src/index.ts'
import { failure, ORIGIN, rowsOf, scenario } from '../support/client-scenario.ts'

const MARK = 's3cr3t-Zq81'
const names = ['X-Tenant-Stamp', 'stamp']
const call = { headers: { 'x-tenant-stamp': MARK, 'x-plain': 'p' }, id: 'order:1', body: 'one' } as const
const PATH = `/a?page=1&stamp=${MARK}`

/** Everything that a thing says, also to who looks where `JSON.stringify` does not. */
const said = (...things: unknown[]): string =>
  things.map((thing) => inspect(thing, { depth: 20, showHidden: true }) + JSON.stringify(thing)).join()

describe('the option credentialNames', () => {
  it('names headers and query parameters that are sent, and neither written down nor shown', async () => {
    const fault = Object.assign(new TypeError(`request to ${ORIGIN}${PATH} failed`), { code: 'ECONNREFUSED' })
    const steps = [{ fault }, { status: 404, url: ORIGIN + PATH, headers: { 'x-tenant-stamp': MARK, 'x-other': '1' } }]
    const { client, fetch, journal, events } = scenario(steps, {
      credentialNames: names,
      clock: systemClock,
      retry: { base: 1, cap: 1 },
    })
    const error = (await failure(client.post(PATH, call))) as Error & { response?: Response }
    expect(fetch.calls).toHaveLength(2)
    for (const { url, headers } of fetch.calls) {
      expect(url).toBe(ORIGIN + PATH)
      expect(headers).toMatchObject(call.headers)
    }
    const rows = await rowsOf(journal)
    expect(said(rows)).toContain('x-other')
    expect(said(rows)).toContain('x-tenant-stamp')
    expect(said(rows, events, error.message, error.cause, error.response?.url)).not.toContain(MARK)
  })

  it('is kept to by a resume, which does not send without them', async () => {
    const options = { credentialNames: names, onGiveUp: 'keep', retry: false } as const
    const { client, journal, clock } = scenario([{ status: 503 }], options)
    await failure(client.post('/a', call))
    const without = scenario([{ status: 200 }], { ...options, journal, clock })
    expect(await without.client.resume()).toMatchObject({ pending: 1 })
    expect(without.fetch.calls).toHaveLength(0)
    const made = { headers: { 'x-tenant-stamp': MARK } }
    const withThem = scenario([{ status: 200 }], { ...options, ...made, journal, clock })
    expect(await withThem.client.resume()).toMatchObject({ succeeded: 1 })
  })

  it('holds for the headers of the client, too', async () => {
    const headers = { 'x-tenant-stamp': MARK }
    const { client, journal } = scenario([{ status: 200 }], { credentialNames: names, headers })
    await client.post('/a', { id: 'order:1' })
    expect(JSON.parse((await rowsOf(journal))[0]?.head ?? '').withheld).toEqual(['x-tenant-stamp'])
  })

  it('is a list of names', () => {
    for (const credentialNames of ['x-stamp', [1], [''], {}]) {
      expect(() => createClient({ credentialNames: credentialNames as never })).toThrow(ConfigurationError)
    }
  })
})
