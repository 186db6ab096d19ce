import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { deferred } from '../support/postgres-ledger.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres-setup.ts'

/** One of our own: the Postgres of the run is not ours to restart. */
let postgres: RunningPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

let count = 0

function replica(namespace: string, fetch: typeof globalThis.fetch) {
  const journal = postgresJournal({ connectionString: postgres.url })
  const failures: string[] = []
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    namespace,
    journal,
    fetch,
    observe: (event) => event.type === 'journal.failed' && failures.push(event.error.message),
  })
  const close = async (): Promise<void> => {
    await client.close()
    await journal.close()
  }
  return { client, failures, close }
}

describe('a Postgres that is restarted', () => {
  it('while a replica keeps resuming: the resume outlives it, and takes up what comes after', async () => {
    const namespace = `restart-${++count}`
    const sent: string[] = []
    const resumer = replica(namespace, async () => {
      sent.push('resumed')
      return new Response()
    })
    const stop = new AbortController()
    const resuming = resumer.client.resume({ continuous: true, signal: stop.signal })
    const refused = replica(namespace, () => Promise.reject(new TypeError('fetch failed')))
    await refused.client.operation('none')
    await postgres.restart()
    const call = refused.client.post('/charges', { body: 'x', onGiveUp: 'keep', retry: false })
    await expect(call).rejects.toMatchObject({ pending: true })
    await expect.poll(() => sent.length, { timeout: 20_000 }).toBe(1)
    stop.abort()
    expect(await resuming).toMatchObject({ succeeded: 1 })
    await Promise.all([resumer.close(), refused.close()])
  })

  it('while an operation is on its way: its caller gets the answer, and no resume sends it again', async () => {
    const namespace = `restart-${++count}`
    const [began, answer] = [deferred<void>(), deferred<void>()]
    let requests = 0
    const { client, close } = replica(namespace, async () => {
      requests++
      began.resolve()
      await answer.promise
      return new Response('done')
    })
    const call = client.post('/charges', { body: 'x', id: 'order:1' })
    await began.promise
    await postgres.restart()
    answer.resolve()
    expect(await call.text()).toBe('done')
    expect((await client.operation('order:1'))?.status).toBe('succeeded')
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(requests).toBe(1)
    await close()
  })

  it('while calls come in: each is done once, or its caller is told that it was not done', async () => {
    const namespace = `restart-${++count}`
    const effects = new Map<string, number>()
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const key = new Headers(init?.headers).get('idempotency-key') ?? ''
      effects.set(key, (effects.get(key) ?? 0) + 1)
      return new Response()
    }
    const { client, close } = replica(namespace, fetch)
    await client.operation('none')
    const restarted = postgres.restart()
    const outcomes: { key: string; effect: string; pending: boolean }[] = []
    let isOver = false
    void restarted.finally(() => {
      isOver = true
    })
    const post = async (): Promise<void> => {
      const call = client.post('/charges', { body: 'x' })
      const told = await call.then(
        () => ({ effect: 'applied', pending: false }),
        (error: unknown) => error as { effect: string; pending: boolean },
      )
      outcomes.push({ key: call.key, effect: told.effect, pending: told.pending })
    }
    for (let round = 0; round < 400 && !(isOver && outcomes.length > 50); round++) {
      await Promise.all(Array.from({ length: 4 }, post))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await restarted
    for (const { key, effect } of outcomes) {
      const count = effects.get(key) ?? 0
      if (effect === 'applied') expect(count).toBe(1)
      if (effect === 'none') expect(count).toBe(0)
    }
    expect(outcomes.some(({ effect }) => effect === 'applied')).toBe(true)
    await close()
  })
})
