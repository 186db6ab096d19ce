import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../../../examples/03-browser/main.mjs', import.meta.url))

let demo: ChildProcess
let pages = ''
let api = ''

beforeAll(async () => {
  demo = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  for await (const line of createInterface({ input: demo.stdout as NodeJS.ReadableStream })) {
    if (lines.push(line) === 3) break
  }
  const addresses = lines.join('\n').match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  pages = addresses[0] ?? ''
  api = addresses[1] ?? ''
})

afterAll(() => {
  demo.kill()
})

async function post(body: string, key?: string): Promise<Response> {
  return fetch(`${api}/orders`, { method: 'POST', body, headers: key ? { 'idempotency-key': key } : {} })
}

/** The raw answer to a request that no client would send. */
function ask(origin: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => socket.end(text))
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer)).on('error', reject)
  })
}

describe('the servers of the shop', () => {
  it('send the page with a policy that allows its own files and its API only', async () => {
    const response = await fetch(pages)
    expect(response.headers.get('content-security-policy')).toMatch(
      new RegExp(
        `^default-src 'none'; script-src 'self' 'sha256-[^']+'; connect-src ${api}; style-src 'self'; img-src `,
      ),
    )
    expect(await response.text()).toContain(`content="${api}"`)
  })

  it('give nothing but the files of the page', async () => {
    for (const path of [
      '/../../package.json',
      '/..%2f..%2fpackage.json',
      '/modules/uuid/../../../../package.json',
      '//',
    ]) {
      const answer = await ask(pages, `GET ${path} HTTP/1.1\r\nHost: pages\r\nConnection: close\r\n\r\n`)
      expect(answer, path).not.toMatch(/^HTTP\/1.1 200/)
    }
    expect((await fetch(`${pages}/shop.mjs`)).status).toBe(200)
  })

  it('let no other origin call, and ask for two names of headers only', async () => {
    const { headers } = await fetch(`${api}/orders`, { method: 'OPTIONS' })
    expect(headers.get('access-control-allow-origin')).toBe(pages)
    expect(headers.get('access-control-allow-headers')).toBe('idempotency-key, content-type')
  })

  it('take an order once per key, and refuse a key that is used for another', async () => {
    const order = JSON.stringify({ order: 'A1', product: 'Green tea' })
    const [first, second] = await Promise.all([post(order, 'k1'), post(order, 'k1')])
    expect([first.status, second.status]).toEqual([201, 201])
    expect([first, second].filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(1)
    expect((await post('{"order":"A2"}', 'k1')).status).toBe(422)
    expect((await post(order)).status).toBe(400)
    const { taken } = (await (await fetch(`${api}/ledger`)).json()) as { taken: unknown[] }
    expect(taken).toEqual([{ key: 'k1', order: 'A1', product: 'Green tea' }])
  })

  it('outlive what is not an order, and a tab that leaves in the middle', async () => {
    await expect(post('not json', 'k2')).rejects.toThrow()
    await ask(api, 'POST /orders HTTP/1.1\r\nHost: api\r\nIdempotency-Key: k3\r\nContent-Length: 100\r\n\r\nhalf')
    expect((await fetch(`${api}/ledger`)).status).toBe(200)
  })
})
