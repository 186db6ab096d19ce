import { expect, it } from 'vitest'
import { countingApi } from '../support/counting-api.ts'
import { launch } from '../support/launch.ts'
import { IMPORT_MAP_HASH, servePages } from '../support/serve-pages.ts'
import { openTab } from '../support/tab.ts'

it('an accepted operation is there after a SIGKILL of the whole browser', async () => {
  const [api, pages] = [await countingApi(), await servePages()]
  const url = pages.origin + pages.page()
  api.otherwise('hang')
  const browser = await launch()
  const client = await (await openTab(browser, url)).createClient({ baseUrl: api.origin })
  const calls = []
  for (let at = 0; at < 5; at++) {
    const call = await client.post('/orders', { json: { at } })
    expect(await call.accepted()).toBe('power')
    calls.push(call)
  }
  await browser.kill()
  const reopened = await openTab(await launch({ profile: browser.profile }), url)
  const again = await reopened.createClient({ baseUrl: api.origin })
  expect(await reopened.ask('keys', again.number)).toEqual(calls.map((call) => call.key))
})

it('works under a strict Content-Security-Policy', async () => {
  const [api, pages] = [await countingApi(), await servePages()]
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${IMPORT_MAP_HASH}`,
    `connect-src ${api.origin}`,
    "require-trusted-types-for 'script'",
  ].join('; ')
  const tab = await openTab(await launch(), pages.origin + pages.page({ policy }))
  const client = await tab.createClient({ baseUrl: api.origin })
  const call = await client.post('/orders', { json: {} })
  expect(await call.accepted()).toBe('power')
  expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201 })
  expect([...tab.violations, ...tab.uncaught]).toEqual([])
})
