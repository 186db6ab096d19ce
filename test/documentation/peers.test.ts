import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { bundleForPage } from '../support/bundle-for-page.ts'
import { root } from './support/pages.ts'
import { type PeerClient, peerClients } from './support/peer-clients.ts'

/* The measured numbers of docs/comparison.md and of the front page, measured again. */

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const comparison = read('docs/comparison.md')

const servers: Server[] = []
afterAll(() => Promise.all(servers.map(close)))

interface Counts {
  requests: number
  charges: number
}

/** What a server does with its n-th request, from 1. */
type Mood = (request: number) => 'charge' | 'charge, answer lost' | '503'

const loses: Mood = (request) => (request === 1 ? 'charge, answer lost' : 'charge')
const isBusyTwice: Mood = (request) => (request <= 2 ? '503' : 'charge')
const isDown: Mood = () => '503'

describe.concurrent('beside its peers', () => {
  it.for(Object.keys(peerClients))('%s does what the comparison says', async (name, { expect }) => {
    const make = peerClients[name]
    if (!make) throw new Error(name)
    const [lost, busy, down] = await Promise.all([
      post(make(), await serve(loses)),
      post(make(), await serve(isBusyTwice)),
      hundredGets(make(), await serve(isDown)),
    ])
    const requests = name.startsWith('Holdfast') ? (down <= 110 ? 'at most 110' : down) : down
    const row = [name, lost.requests, lost.charges, lost.told, busy.requests, busy.told, requests]
    expect(rowOf(comparison, name)).toBe(`| ${row.join(' | ')} |`)
  })
})

describe('the sizes', () => {
  it.each([
    ['ky', "export { default } from 'ky'"],
    ['axios-retry', "export { default } from 'axios'; export { default as retry } from 'axios-retry'"],
    ['p-retry', "export { default } from 'p-retry'"],
    ['ofetch', "export { ofetch } from 'ofetch'"],
    ['workbox-background-sync', "export { BackgroundSyncPlugin } from 'workbox-background-sync'"],
    ['Holdfast', "export { createClient } from './src/index.ts'"],
  ])('of %s is what the comparison says', async (name, program) => {
    const row = new RegExp(`^\\| ${name} \\| (\\d+) KB \\|$`, 'm').exec(comparison)
    expect(Number(row?.[1])).toBe(Math.round(gzipSync(await bundleForPage(program), { level: 9 }).length / 1000))
  })
})

describe('the front page', () => {
  it('has the throughput that was measured last', () => {
    const page = read('docs/performance.md')
    const post = page.slice(page.indexOf('<!-- bench: post -->'), page.indexOf('<!-- end of bench: post -->'))
    const share = (name: string): string | undefined =>
      new RegExp(`^\\| ${name.replace('+', '\\+')} \\|.*\\| ([\\d.]+) \\([^|]*\\) \\|$`, 'm').exec(post)?.[1]
    const shares = [share('ky'), share('axios + axios-retry'), share('Holdfast')]
    expect(shares).not.toContain(undefined)
    const row = rowOf(read('README.md'), 'POSTs per second, as a share of `undici.request`')
    expect(row).toContain(`| ${shares[0]} | ${shares[1]} | | ${shares[2]}, synced to the disk |`)
  })
})

/** The first row of a page's tables that begins so. */
function rowOf(page: string, name: string): string | undefined {
  return page.split('\n').find((line) => line.startsWith(`| ${name} |`))
}

async function post(client: PeerClient, server: Counting): Promise<Counts & { told: string }> {
  const told = await Promise.resolve(client.post(server.url, { amount: 5000 })).then(answerOf, errorOf)
  return { ...server.counts, told }
}

function answerOf(answer: unknown): string {
  const status = answer instanceof Response ? answer.status : 201
  return status === 201 ? 'success' : `a response with ${status}`
}

function errorOf(error: { readonly effect?: string }): string {
  return error.effect ? `an error, effect \`${error.effect}\`` : 'an error'
}

async function hundredGets(client: PeerClient, server: Counting): Promise<number> {
  await Promise.allSettled(Array.from({ length: 100 }, () => client.get(server.url)))
  return server.counts.requests
}

interface Counting {
  readonly url: string
  readonly counts: Counts
}

/** A server that charges once for each key, and once for each request without one. */
async function serve(mood: Mood): Promise<Counting> {
  const counts = { requests: 0, charges: 0 }
  const known = new Set<string>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const does = mood(++counts.requests)
      if (does !== '503' && isNew(request, known)) counts.charges++
      answer(request, response, does)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges`, counts }
}

function isNew({ headers }: IncomingMessage, known: Set<string>): boolean {
  const key = headers['idempotency-key']
  if (typeof key !== 'string') return true
  return !known.has(key) && known.add(key).has(key)
}

function answer(request: IncomingMessage, response: ServerResponse, does: ReturnType<Mood>): void {
  if (does === 'charge, answer lost') request.socket.resetAndDestroy()
  else response.writeHead(does === '503' ? 503 : 201, { 'content-type': 'application/json' }).end('{}')
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
