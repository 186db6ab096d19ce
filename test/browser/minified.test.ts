import { expect, it } from 'vitest'
import { bundleForPage } from '../support/bundle-for-page.ts'

it('names the fetch of a client fetch, also in the minified bundle of a page', async () => {
  const program = `
    import { clientFetch } from './src/client/client-fetch.ts'
    export const fetch = clientFetch(() => {}, {})`
  const code = Buffer.from(await bundleForPage(program)).toString('base64')
  const page: { fetch: { name: string; length: number } } = await import(`data:text/javascript;base64,${code}`)
  expect({ name: page.fetch.name, length: page.fetch.length }).toEqual({ name: 'fetch', length: 1 })
})
