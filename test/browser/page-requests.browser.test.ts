import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/index.ts'
import { closeAtEnd } from './support/closing.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import { servePages } from './support/serve-pages.ts'
import { openTab, type Tab } from './support/tab.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

type Serve = (request: IncomingMessage, response: ServerResponse) => void

async function server(serve: Serve): Promise<string> {
  const made = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    response.setHeader('access-control-allow-methods', '*')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    serve(request, response)
  })
  made.listen(0, '127.0.0.1')
  await once(made, 'listening')
  closeAtEnd(async () => {
    made.close()
    made.closeAllConnections()
  })
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

async function newTab(): Promise<Tab> {
  const pages = await servePages()
  return openTab(browser, pages.origin + pages.page())
}

type Page = typeof globalThis & { client: Client }

/** Puts a client on the page. As text: the runner would rewrite an import of a page. */
async function withClient(tab: Tab, baseUrl: string): Promise<void> {
  const options = `{ baseUrl: '${baseUrl}', journal: memoryJournal(), retry: { base: 1, cap: 1 }, budget: false, breaker: false }`
  await tab.page.evaluate(
    `import('holdfast').then(({ createClient, memoryJournal }) => { globalThis.client = createClient(${options}) })`,
  )
}

/** A server that fails once, with an answer that a browser may keep for a minute. */
async function failsOnce(): Promise<{ readonly origin: string; readonly paths: string[] }> {
  const paths: string[] = []
  const origin = await server((request, response) => {
    paths.push(request.url ?? '')
    const status = paths.length === 1 ? 503 : 200
    response.writeHead(status, { 'cache-control': 'max-age=60' }).end(`answer ${paths.length}`)
  })
  return { origin, paths }
}

describe('a retry in a page', () => {
  it('reaches the server, although the browser has kept the failure, and replaces what it has kept', async () => {
    const { origin, paths } = await failsOnce()
    const tab = await newTab()
    await withClient(tab, origin)
    const get = (): Promise<string> => tab.page.evaluate(() => (globalThis as Page).client.get('/thing').text())
    expect(await get()).toBe('answer 2')
    expect(paths).toHaveLength(2)
    expect(await get()).toBe('answer 2')
    expect(paths).toHaveLength(2)
  })

  it('of client.fetch reaches it too, unless the caller has said what the cache is for', async () => {
    const { origin, paths } = await failsOnce()
    const tab = await newTab()
    await withClient(tab, origin)
    const get = (cache?: RequestCache): Promise<number> =>
      tab.page.evaluate(
        async ([url, mode]) => {
          const init: RequestInit = mode === undefined ? {} : { cache: mode as RequestCache }
          return (await (globalThis as Page).client.fetch(String(url), init)).status
        },
        [`${origin}/thing`, cache] as const,
      )
    expect(await get('force-cache')).toBe(503)
    expect(paths).toHaveLength(1)
    expect(await get()).toBe(200)
    expect(paths).toHaveLength(2)
  })
})

describe('a large body in a page', () => {
  it('is given to fetch as a Blob, which does not block the page, and arrives as it was', async () => {
    const arrived: { type: string | undefined; hash: string }[] = []
    const origin = await server(async (request, response) => {
      const hash = createHash('sha256')
      for await (const chunk of request) hash.update(chunk as Buffer)
      arrived.push({ type: request.headers['content-type'], hash: hash.digest('hex') })
      response.writeHead(201).end('{}')
    })
    const tab = await newTab()
    await withClient(tab, origin)
    const kinds = await tab.page.evaluate(async () => {
      const { client } = globalThis as Page
      const kinds: string[] = []
      const { fetch } = globalThis
      globalThis.fetch = (input, init) => {
        kinds.push(Object.prototype.toString.call(init?.body))
        return fetch(input, init)
      }
      const large = new Uint8Array(1_000_000).fill(7)
      const headers = { 'content-type': 'application/octet-stream' }
      await client.post('/plain', { body: large })
      await client.post('/typed', { body: large, headers })
      await client.post('/small', { body: new Uint8Array(1000) })
      return kinds
    })
    expect(kinds).toEqual(['[object Blob]', '[object Blob]', '[object Uint8Array]'])
    const hash = createHash('sha256').update(new Uint8Array(1_000_000).fill(7)).digest('hex')
    expect(arrived.slice(0, 2)).toEqual([
      { type: undefined, hash },
      { type: 'application/octet-stream', hash },
    ])
  })
})
