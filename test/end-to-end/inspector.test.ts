import { request as httpRequest } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { type InspectorOptions, startInspector } from '../../src/inspector/index.ts'
import { createLedger, memoryLedger } from '../../src/server/index.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** An inspector, and requests as any program of the machine may send them: with any Host. */
async function inspect(options: Partial<InspectorOptions> = {}) {
  const client = createClient({ journal: memoryJournal(), fetch: async () => new Response('{}', { status: 201 }) })
  const inspector = await startInspector({ client, ...options })
  onTestFinished(async () => {
    await inspector.close()
    await client.close()
  })
  const { port, hash } = new URL(inspector.url)
  const token = hash.replace('#token=', '')
  const ask = (path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      request.on('error', reject)
      request.end(body)
    })
  const authorized = { authorization: `Bearer ${token}` }
  const own = { ...authorized, origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' }
  return { client, inspector, port, ask, authorized, own }
}

const PATHS = ['/', '/page.css', '/page.js', '/icon.svg']

describe('the inspector over HTTP', () => {
  it('listens on the loopback address, with a token of its own each time', async () => {
    const [one, other] = [await inspect(), await inspect()]
    expect(one.inspector.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/)
    expect(one.authorized).not.toEqual(other.authorized)
  })

  it('sends every answer with a policy that allows its own files and nothing else', async () => {
    const { ask, authorized } = await inspect()
    for (const path of [...PATHS, '/api/overview', '/api/nothing', '/nothing']) {
      const { headers } = await ask(path, { headers: authorized })
      const policy = headers['content-security-policy']
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  it('serves a page that names no address elsewhere, and has no script or handler in its markup', async () => {
    const { ask } = await inspect()
    for (const path of PATHS) {
      const { status, text } = await ask(path)
      expect(status).toBe(200)
      const addresses = [...text.matchAll(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}[^\s"')]*/gi)].map(
        ([address]) => address,
      )
      // The name of a vocabulary: nothing is loaded from there.
      expect(addresses.filter((address) => address !== 'http://www.w3.org/2000/svg')).toEqual([])
    }
    const { text: html } = await ask('/')
    expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=|javascript:/i)
    expect((await ask('/page.js')).text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/)
  })

  it('answers nothing to another Host, and no data without the token', async () => {
    const { ask, authorized, port } = await inspect()
    expect((await ask('/', { headers: { host: `evil.example:${port}` } })).status).toBe(403)
    expect((await ask('/api/overview', { headers: { ...authorized, host: 'evil.example' } })).status).toBe(403)
    expect((await ask('/api/overview')).status).toBe(401)
    expect((await ask('/api/overview', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
    expect((await ask('/api/overview', { headers: authorized })).status).toBe(200)
  })

  it('changes nothing for a page of another origin, or without a header that such a page cannot send', async () => {
    const { ask, client, own } = await inspect()
    const { key } = client.post('https://api.example.com/charges', { json: {}, id: 'one' })
    const body = JSON.stringify({ key })
    const send = async (headers: Record<string, string>) =>
      (await ask('/api/cancel', { method: 'POST', headers, body })).status
    const { authorization, ...withoutToken } = own
    expect(await send(withoutToken)).toBe(401)
    expect(await send({ ...own, origin: 'https://evil.example' })).toBe(403)
    expect(await send({ authorization, 'content-type': 'application/json' })).toBe(403)
    expect(await send({ ...own, 'content-type': 'text/plain' })).toBe(415)
    expect(await send(own)).toBe(200)
    // No preflight is answered with a leave.
    expect((await ask('/api/cancel', { method: 'OPTIONS', headers: own })).status).toBe(405)
  })

  it('does not send again what the page has', async () => {
    const { ask, authorized } = await inspect()
    const { headers } = await ask('/api/operations', { headers: authorized })
    const again = await ask('/api/operations', { headers: { ...authorized, 'if-none-match': String(headers.etag) } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it('refuses a change that is no JSON, or too large, and lives on', async () => {
    const { ask, own } = await inspect()
    expect((await ask('/api/cancel', { method: 'POST', headers: own, body: 'no' })).status).toBe(500)
    expect((await ask('/api/cancel', { method: 'POST', headers: own, body: '{}' })).status).toBe(404)
    const large = JSON.stringify({ key: 'x'.repeat(300_000) })
    expect((await ask('/api/cancel', { method: 'POST', headers: own, body: large })).status).toBe(500)
    expect((await ask('/')).status).toBe(200)
  })

  it('shows a ledger alone, and says what it has', async () => {
    const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
    const { ask, authorized } = await inspect({ client: undefined, ledger })
    const { text } = await ask('/api/overview', { headers: authorized })
    expect(JSON.parse(text)).toMatchObject({ readOnly: false, ledger: { entries: 0, unknown: 0, canResolve: true } })
    expect(JSON.parse(text)).not.toHaveProperty('operations')
    expect((await ask('/api/operations', { headers: authorized })).status).toBe(404)
  })

  it('needs something to show, and options that it knows', async () => {
    await expect(startInspector({})).rejects.toThrow('startInspector needs a `client`, a `ledger` or both.')
    await expect(startInspector({ client: {} as never })).rejects.toThrow('made by createClient of the same package')
    await expect(startInspector({ token: 'short' })).rejects.toThrow('`inspector.token` must be at least 32 characters')
    await expect(startInspector({ readonly: true } as never)).rejects.toThrow('Did you mean `inspector.readOnly`?')
  })
})
