import { describe, expect, it } from 'vitest'
import { reaches } from '../../../../src/client/transport/fetch/reaches.ts'

const URL_WITH_QUERY = 'https://api.test/orders/7?token=secret'
const { signal } = new AbortController()

/** As fetch gives it; that of another origin, which can't be made, has the status 0. */
const answer = (status: number): Response => Object.defineProperty(new Response(), 'status', { value: status })

describe('whether a server is reached', () => {
  it.each([0, 200, 204, 304, 401, 404, 405])('is shown by an answer (%i)', async (status) => {
    expect(await reaches(async () => answer(status), URL_WITH_QUERY, signal)).toBe(true)
  })

  it.each([500, 503, 504])('is not shown by a %i, which a service worker may have made up', async (status) => {
    expect(await reaches(async () => answer(status), URL_WITH_QUERY, signal)).toBe(false)
  })

  it('is not shown by an error, whatever throws it', async () => {
    expect(await reaches(() => Promise.reject(new TypeError('Failed to fetch')), URL_WITH_QUERY, signal)).toBe(false)
    const broken = () => {
      throw new Error('no fetch here')
    }
    expect(await reaches(broken, URL_WITH_QUERY, signal)).toBe(false)
    expect(await reaches(async () => answer(200), 'no URL', signal)).toBe(false)
  })

  it("is asked without anything that is the caller's, and changes nothing", async () => {
    const asked: unknown[] = []
    const fetch = async (...args: unknown[]): Promise<Response> => {
      asked.push(...args)
      return answer(200)
    }
    await reaches(fetch as typeof globalThis.fetch, URL_WITH_QUERY, signal)
    const init = { method: 'HEAD', mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal }
    expect(asked).toEqual(['https://api.test/orders/7', init])
  })
})
