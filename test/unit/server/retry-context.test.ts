import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Duration } from '../../../src/foundation/duration.ts'
import { ConfigurationError } from '../../../src/index.ts'
import type { InboundSource } from '../../../src/server/http/retry-context.ts'
import { retryContext } from '../../../src/server/http/retry-context.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

const clock = manualClock()
const SAID = { 'Do-Not-Retry': 'true', 'Request-Timeout-Ms': '2000' }
const WITHIN = { doNotRetry: true, deadlineAt: clock.now() + 1900 }

const inside = (source: InboundSource) => retryContext.run(source, () => retryContext.current(), { clock })

function incoming(headers: Record<string, string>): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  for (const [name, value] of Object.entries(headers)) message.headers[name.toLowerCase()] = value
  return message
}

afterEach(() => vi.resetModules())

describe('the retry context', () => {
  it.each<[string, InboundSource]>([
    ['a fetch request', new Request('http://127.0.0.1/', { headers: SAID })],
    ['fetch headers', new Headers(SAID)],
    ['a message of node:http', incoming(SAID)],
    ['a plain object', SAID],
    ['a plain object with lists', { 'do-not-retry': ['0', '1'], 'REQUEST-TIMEOUT-MS': ['9000', '2000'] }],
    ['a list of fields', Object.entries(SAID)],
    ['anything with headers', { headers: SAID }],
  ])('is read from %s', (_what, source) => {
    expect(inside(source)).toEqual(WITHIN)
  })

  it('is empty for a request that asks nothing', () => {
    expect(inside({})).toEqual({ doNotRetry: false, deadlineAt: undefined })
    expect(inside({ 'do-not-retry': undefined, 'request-timeout-ms': undefined })).toEqual(inside({}))
  })

  it('is there for as long as the request is served, and nowhere else', async () => {
    expect(retryContext.current()).toBeUndefined()
    const served = retryContext.run(
      SAID,
      async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return retryContext.current()
      },
      { clock },
    )
    expect(retryContext.current()).toBeUndefined()
    expect(await served).toEqual(WITHIN)
    expect(retryContext.current()).toBeUndefined()
  })

  it('gives back what serving gives, also a failure', () => {
    expect(retryContext.run({}, () => 7)).toBe(7)
    expect(() =>
      retryContext.run({}, () => {
        throw new Error('broken')
      }),
    ).toThrow('broken')
  })

  it('is never widened by one inside it: the stricter holds', () => {
    const inner = (headers: InboundSource) => retryContext.run(SAID, () => inside(headers), { clock })
    expect(inner({})).toEqual(WITHIN)
    expect(inner({ 'do-not-retry': 'false', 'request-timeout-ms': '60000' })).toEqual(WITHIN)
    expect(inner({ 'request-timeout-ms': '1000' })).toEqual({ doNotRetry: true, deadlineAt: clock.now() + 950 })
    const stricter = retryContext.run({}, () => inside(SAID), { clock })
    expect(stricter).toEqual(WITHIN)
  })

  it('is ignored from a request that is not trusted, and the one around it holds', () => {
    const options = { clock, trust: (request: Request) => request.headers.get('x-internal') === 'yes' }
    const within = (headers: Record<string, string>) =>
      retryContext.run(new Request('http://127.0.0.1/', { headers }), () => retryContext.current(), options)
    expect(within({ ...SAID, 'x-internal': 'yes' })).toEqual(WITHIN)
    expect(within(SAID)).toEqual({ doNotRetry: false, deadlineAt: undefined })
    expect(retryContext.run(SAID, () => within({ 'request-timeout-ms': '500' }), { clock })).toEqual(WITHIN)
  })

  it('leaves at least 100 ms, or what is asked for, if it leaves any time at all', () => {
    const left = (ms: number, minTimeout?: Duration) => {
      const headers = { 'request-timeout-ms': String(ms) }
      const context = retryContext.run(headers, () => retryContext.current(), { clock, minTimeout })
      return (context?.deadlineAt ?? 0) - clock.now()
    }
    expect([60, 11, 110, 1000].map((ms) => left(ms))).toEqual([100, 100, 100, 950])
    // Nothing is sent then, so that nothing becomes unknown.
    expect([0, 10].map((ms) => left(ms))).toEqual([0, 0])
    expect([left(60, '1s'), left(60, '0ms')]).toEqual([1000, 50])
    expect(() => left(60, 'soon' as never)).toThrow(/`minTimeout` must be/)
  })

  it('can be left for work that nobody waits for', () => {
    const left = retryContext.run(SAID, () => [
      retryContext.outside(() => retryContext.current()),
      retryContext.current(),
    ])
    expect(left[0]).toBeUndefined()
    expect(left[1]?.doNotRetry).toBe(true)
  })

  it('is one and the same for every copy of the library in a process', async () => {
    vi.resetModules()
    const copy = await import('../../../src/server/http/retry-context.ts')
    expect(copy.retryContext).not.toBe(retryContext)
    expect(retryContext.run(SAID, () => copy.retryContext.current(), { clock })).toEqual(WITHIN)
    expect(copy.retryContext.run(SAID, () => retryContext.current(), { clock })).toEqual(WITHIN)
  })

  it('refuses what is neither a request nor headers', () => {
    for (const wrong of [undefined, null, 'headers', 5]) {
      expect(() => retryContext.run(wrong as never, () => {})).toThrow(ConfigurationError)
    }
  })
})
