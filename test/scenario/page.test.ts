import { describe, expect, it } from 'vitest'
import { composeClient } from '../../src/client/compose-client.ts'
import { platform } from '../../src/client/platform/node.ts'
import { type Client, type ClientOptions, memoryJournal } from '../../src/index.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'

const PAGE = 'https://shop.test'
const ELSEWHERE = 'https://api.test'

/** A client as it is in a page. */
function inPage(options: ClientOptions): Client {
  return composeClient({ ...platform, sendHeaders: false, pageOrigin: () => PAGE }, options)
}

describe('a client in a page', () => {
  it('calls paths of the origin that the page came from', async () => {
    const fetch = scriptedFetch(() => ({ status: 200 }))
    const headers = { 'x-own': '1' }
    await inPage({ fetch, journal: false, headers }).post('/api/orders')
    await inPage({ fetch, journal: false, headers, baseUrl: '/api' }).post('orders')
    await inPage({ fetch, journal: false, headers }).post(`${ELSEWHERE}/orders`)
    expect(fetch.calls.map(({ url, headers: sent }) => [url, sent['x-own']])).toEqual([
      [`${PAGE}/api/orders`, '1'],
      [`${PAGE}/api/orders`, '1'],
      [`${ELSEWHERE}/orders`, undefined],
    ])
  })

  it('resumes what it sent to other origins, unless it was told where it belongs', async () => {
    const fetch = scriptedFetch([{ fault: 'refused' }, { status: 201 }])
    const journal = memoryJournal()
    const said = { fetch, journal, retry: false, onGiveUp: 'keep' } as const
    await inPage(said)
      .post(`${ELSEWHERE}/orders`)
      .catch(() => {})
    expect(await inPage({ ...said, baseUrl: '/api' }).resume()).toMatchObject({ claimed: 0 })
    expect(await inPage(said).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(fetch.calls).toHaveLength(2)
  })
})
