import { describe, expect, it } from 'vitest'
import { type CallOptions, type ClientOptions, ConfigurationError, createClient } from '../../src/index.ts'
import { scenario } from '../support/client-scenario.ts'

function thrownBy(act: () => unknown): Error {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  throw new Error('Nothing was thrown')
}

describe('createClient', () => {
  const wrong: readonly (readonly [options: unknown, says: RegExp])[] = [
    [null, /options/],
    ['https://api.test', /options/],
    [{ baseURL: 'https://x' }, /baseUrl/],
    [{ retries: 3 }, /retry/],
    [{ deadLine: 1 }, /deadline/],
    [{ baseUrl: '/relative' }, /baseUrl/],
    [{ baseUrl: 'ftp://x' }, /baseUrl/],
    [{ deadline: -1 }, /deadline/],
    [{ deadline: '5 fortnights' }, /deadline/],
    [{ deadline: Number.NaN }, /deadline/],
    [{ attemptTimeout: 0 }, /attemptTimeout/],
    [{ retry: { maxAttempts: 0 } }, /maxAttempts/],
    [{ retry: { maxAttempts: 1.5 } }, /maxAttempts/],
    [{ retry: { jitter: 'some' } }, /jitter/],
    [{ retry: { statuses: [200] } }, /statuses/],
    [{ retry: { max: 3 } }, /retry\.max/],
    [{ retry: { base: 10, cap: 5 } }, /cap/],
    [{ horizon: '24h' }, /horizon/],
    [{ horizon: '25h' }, /horizon/],
    [{ budget: { ratio: -1 } }, /ratio/],
    [{ breaker: { failureRate: 2 } }, /failureRate/],
    [{ doNotRetry: { send: 'a b' } }, /send/],
    [{ keyHeader: { name: 'Do-Not-Retry' } }, /same header/],
    [{ keyHeader: { format: 'odd' } }, /format/],
    [{ maxBodyBytes: -1 }, /maxBodyBytes/],
    [{ fetch: 'x' }, /fetch/],
    [{ observe: {} }, /observe/],
    [{ journal: 'memory' }, /journal/],
    [{ journal: { fallback: 'disk' } }, /fallback/],
    [{ namespace: '' }, /namespace/],
    [{ encryption: {} }, /encryption/],
    [{ onGiveUp: 'drop' }, /onGiveUp/],
    [{ trustedOrigins: ['x'] }, /trustedOrigins/],
    [{ clock: {} }, /clock/],
  ]
  for (const [options, says] of wrong) {
    it(`refuses ${JSON.stringify(options)} with a sentence that names it`, () => {
      const error = thrownBy(() => createClient(options as ClientOptions))
      expect(error).toBeInstanceOf(ConfigurationError)
      expect(error).toMatchObject({ code: 'HOLDFAST_CONFIGURATION', effect: 'none', pending: false })
      expect(error.message).toMatch(says)
    })
  }

  it('names the option and its likely source if a call needs a baseUrl that is undefined', () => {
    const client = createClient({ baseUrl: process.env.API_URL_THAT_IS_NOT_SET, journal: false })
    const error = thrownBy(() => client.post('/charges'))
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(error.message).toMatch(/`baseUrl`, which is undefined: is the environment variable set/)
  })

  it('takes nothing at all, and opens nothing', () => {
    expect(() => createClient()).not.toThrow()
    expect(() => createClient({})).not.toThrow()
  })
})

describe('a call', () => {
  const wrong: readonly (readonly [options: unknown, says: RegExp])[] = [
    [null, /options/],
    ['body', /options/],
    [{ jsn: 1 }, /json/],
    [{ timeout: 5 }, /option/],
    [{ json: 1, body: 'x' }, /json.*body/],
    [{ headers: 'x-a: b' }, /headers/],
    [{ headers: [['a']] }, /headers/],
    [{ searchParams: 5 }, /searchParams/],
    [{ signal: {} }, /signal/],
    [{ signal: { aborted: false } }, /signal/],
    [{ deadline: 'soon' }, /deadline/],
    [{ attemptTimeout: -5 }, /attemptTimeout/],
    [{ retry: 3 }, /retry/],
    [{ durable: 'no' }, /durable/],
    [{ onGiveUp: 'x' }, /onGiveUp/],
    [{ key: 5 }, /key/],
    [{ id: '' }, /id/],
    [{ id: 5 }, /id/],
    [{ name: '' }, /name/],
    [{ metadata: { a: 1n } }, /metadata/],
    [{ metadata: { when: new Date() } }, /metadata/],
    [{ accept: true }, /accept/],
  ]
  for (const [options, says] of wrong) {
    const shown = JSON.stringify(options, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
    it(`refuses ${shown} synchronously`, () => {
      const { client, fetch } = scenario([])
      const error = thrownBy(() => client.post('/a', options as CallOptions))
      expect(error).toBeInstanceOf(ConfigurationError)
      expect(error.message).toMatch(says)
      expect(fetch.calls).toHaveLength(0)
    })
  }

  it('refuses methods that no HTTP client may send, and names that are none', () => {
    const { client } = scenario([])
    for (const method of ['CONNECT', 'trace', 'TRACK', '', 'a b', 'GET\r\n', 5 as unknown as string]) {
      expect(thrownBy(() => client.request(method, '/a'))).toBeInstanceOf(ConfigurationError)
    }
  })

  it('leaves nothing reserved behind when it is refused: the id is still free', async () => {
    const { client } = scenario(() => ({ status: 200 }))
    thrownBy(() => client.post('/a', { id: 'x', body: 5 as never }))
    const first = client.post('/a', { id: 'x' })
    await first
    expect((await client.operation('x'))?.key).toBe(first.key)
  })
})
