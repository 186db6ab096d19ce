import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type ClientOptions, createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { startProgram } from '../support/child-program.ts'
import { fillJournal } from '../support/child-rows.ts'
import { crashScene, hear } from './crash-scene.ts'

const scene = crashScene()

/** An origin where nobody listens. */
async function refusingOrigin(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

const BURST = 10
const RATIO = 0.1

/** What trickles into the bucket meanwhile, and one for the fraction that was there. */
function reserve(startedAt: number): number {
  return Math.ceil(((performance.now() - startedAt) / 1000) * 0.1) + 1
}

interface Outage {
  readonly attempts: number
  readonly failed: number
  readonly allowed: number
}

async function postThousand(origin: string, path: string, options: ClientOptions): Promise<Outage> {
  const { db } = scene.place()
  const startedAt = performance.now()
  let attempts = 0
  const journal = sqliteJournal({ path: db, durability: 'process' })
  const client = createClient({
    baseUrl: origin,
    journal,
    retry: { base: 1 },
    ...options,
    observe: (event) => {
      if (event.type === 'attempt.started') attempts++
    },
  })
  const posts = Array.from({ length: 1000 }, (_, number) => client.post(path, { json: { number } }))
  const results = await Promise.allSettled(posts)
  await client.close()
  await journal.close()
  const failed = results.filter(({ status }) => status === 'rejected').length
  return { attempts, failed, allowed: 1000 + BURST + 1000 * RATIO + reserve(startedAt) }
}

describe('a thousand calls to a server that is dead', () => {
  it.each([
    ['by the budget alone', { breaker: false }],
    ['with the breaker', {}],
  ] as const)('cost little more than a thousand attempts where it refuses, %s', async (_, options) => {
    const { attempts, failed, allowed } = await postThousand(await refusingOrigin(), '/charges', options)
    expect(failed).toBe(1000)
    expect(attempts).toBeGreaterThan(0)
    expect(attempts).toBeLessThanOrEqual(allowed)
  })

  it.each([
    ['by the budget alone', { breaker: false }],
    ['with the breaker', {}],
  ] as const)('cost little more than a thousand requests where it accepts and resets, %s', async (_, options) => {
    const server = await scene.server
    const { path } = scene.place()
    await server.mode({ path, weights: { reset: 1 } })
    const { failed, allowed } = await postThousand(server.origin, path, options)
    const requests = (await server.at(path)).reduce((sum, one) => sum + one.requests, 0)
    expect(failed).toBe(1000)
    expect(requests).toBeGreaterThan(0)
    expect(requests).toBeLessThanOrEqual(allowed)
  })
})

describe('a thousand pending operations that are resumed at once', () => {
  it.each([
    ['by the budget alone', { breaker: false }],
    ['with the breaker', {}],
  ] as const)('cost a dead server no more than the burst and the reserve, %s', async (_, options) => {
    const server = await scene.server
    const { db, path } = scene.place()
    await server.mode({ path, weights: { reset: 1 } })
    const journal = sqliteJournal({ path: db, durability: 'process' })
    await journal.open()
    await fillJournal(journal, { origin: server.origin, path, count: 1000, status: 'pending' })
    const client = createClient({ baseUrl: server.origin, journal, retry: { base: 1 }, ...options })
    const startedAt = performance.now()
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 3000)
    const once = await client.resume({ concurrency: 100 })
    await client.resume({ continuous: true, concurrency: 100, signal: stop.signal })
    const requests = (await server.at(path)).reduce((sum, one) => sum + one.requests, 0)
    expect(once).toMatchObject({ succeeded: 0, failed: 0 })
    expect(requests).toBeGreaterThan(1)
    expect(requests).toBeLessThanOrEqual(BURST + reserve(startedAt))
    await client.close()
    await journal.close()
  })

  it('stay within the burst of each start in a crash loop', async () => {
    const server = await scene.server
    const { db, path } = scene.place()
    await server.mode({ path, weights: { reset: 1 } })
    const journal = sqliteJournal({ path: db, durability: 'process' })
    await journal.open()
    await fillJournal(journal, { origin: server.origin, path, count: 1000, status: 'pending' })
    await journal.close()
    const startedAt = performance.now()
    const starts = 4
    const sent = async () => (await server.at(path)).reduce((sum, one) => sum + one.requests, 0)
    for (let start = 1; start <= starts; start++) {
      const child = await startProgram('child-resumer', { origin: server.origin, db, continuous: true, baseMs: 1 })
      await hear(child, 'resumed')
      // However slow the machine is, the first one has sent something before it dies.
      if (start === 1) await expect.poll(sent, { timeout: 60_000 }).toBeGreaterThan(0)
      await new Promise((resolve) => setTimeout(resolve, 500))
      await child.kill()
    }
    const requests = await sent()
    expect(requests).toBeLessThanOrEqual(starts * BURST + reserve(startedAt))
  })
})
