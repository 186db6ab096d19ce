import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Journal, JournalCommand } from '../../../src/client/journal/port.ts'
import { createClient, StorageError } from '../../../src/index.ts'
import {
  append,
  commit,
  held,
  inLane,
  keysOf,
  list,
  NOW,
  renew,
} from '../../../src/testing/contracts/journal/sample-row.ts'
import { journalScene } from '../../support/postgres-journal.ts'
import { SilentProxy } from '../../support/silent-proxy.ts'

const scene = journalScene()
const baseUrl = 'http://127.0.0.1:1'

let count = 0

/** A client whose API answers with what it was sent, and the same place for a second one. */
function shops() {
  const namespace = `held-${++count}`
  const shop = () =>
    createClient({
      baseUrl,
      namespace,
      journal: scene.journal(),
      fetch: async (_, init) => new Response(init?.body as Uint8Array<ArrayBuffer>),
    })
  return [shop(), shop()] as const
}

async function openTransaction(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  await client.query('BEGIN')
  return client
}

describe('while an outbox transaction is open', () => {
  it('calls of its lane wait for it, and no other call does', async () => {
    const [producer, consumer] = shops()
    const outbox = await openTransaction(scene.pool())
    const first = await producer.prepare('POST', '/x', { body: 'first', lane: 'L' })
    await first.persist(outbox)
    const answers: string[] = []
    const behind = [1, 2, 3].map((at) =>
      consumer
        .post('/x', { body: `behind-${at}`, lane: 'L' })
        .text()
        .then((text) => answers.push(text)),
    )
    for (let round = 0; round < 3; round++) {
      expect(await consumer.post('/x', { body: 'free' }).text()).toBe('free')
      expect(await consumer.post('/x', { body: 'other', lane: 'M' }).text()).toBe('other')
    }
    expect(answers).toEqual([])
    await outbox.query('COMMIT')
    outbox.release()
    await producer.resume()
    await Promise.all(behind)
    expect(answers).toEqual(['behind-1', 'behind-2', 'behind-3'])
    await Promise.all([producer.close(), consumer.close()])
  })

  it('calls with its id wait for it, and no other call does', async () => {
    const [producer, consumer] = shops()
    const outbox = await openTransaction(scene.pool())
    const first = await producer.prepare('POST', '/x', { body: 'same', id: 'order:1' })
    await first.persist(outbox)
    let isAnswered = false
    const same = [1, 2].map(() =>
      consumer
        .post('/x', { body: 'same', id: 'order:1' })
        .text()
        .then((text) => {
          isAnswered = true
          return text
        }),
    )
    for (let round = 0; round < 3; round++) {
      expect(await consumer.post('/x', { body: 'free', id: `order:${2 + round}` }).text()).toBe('free')
    }
    expect(isAnswered).toBe(false)
    await outbox.query('ROLLBACK')
    outbox.release()
    expect(await Promise.all(same)).toEqual(['same', 'same'])
    await Promise.all([producer.close(), consumer.close()])
  })
})

/** What the client's writes go through, one command at a time. */
async function queueOf(journal: Journal) {
  await journal.open()
  const queue = journal.queue?.({ now: () => NOW })
  const ask = (command: JournalCommand): Promise<unknown> =>
    new Promise((resolve, reject) => queue?.push({ command, resolve: resolve as (result: never) => void, reject }))
  return { ask, idle: () => queue?.idle() }
}

describe('a command that another transaction holds up', () => {
  it('delays neither renewals nor settlements of other operations', async () => {
    const journal = scene.journalWith({ pool: scene.pool(), schema: scene.newSchema() })
    const { ask, idle } = await queueOf(journal)
    await Promise.all([ask(held('a')), ask(held('b'))])
    const outbox = await openTransaction(scene.pool())
    await journal.persistIn?.(outbox, inLane('first', 'L').row)
    const behind = ['second', 'third'].map((key) => ask(inLane(key, 'L')))
    expect(await Promise.all([ask(renew('a', NOW + 60_000)), ask(commit('b'))])).toEqual([true, true])
    expect(await ask(renew('a', NOW + 70_000))).toBe(true)
    await outbox.query('COMMIT')
    outbox.release()
    expect(await Promise.all(behind)).toEqual([{ appended: true }, { appended: true }])
    const fourth = ask(inLane('fourth', 'L'))
    await idle()
    expect(await fourth).toEqual({ appended: true })
    const [rows] = await journal.execute([list()])
    expect(keysOf(rows as { key: string }[])).toBe('a b first second third fourth')
  })

  it('delays nothing else if its row is locked', async () => {
    const schema = scene.newSchema()
    const { ask } = await queueOf(scene.journalWith({ pool: scene.pool(), schema }))
    await Promise.all([ask(held('a')), ask(held('b'))])
    const administrator = await openTransaction(scene.pool())
    await administrator.query(`SELECT FROM ${schema}.holdfast_operations WHERE key = 'a' FOR UPDATE`)
    const settlement = ask(commit('a'))
    const results = await Promise.all([ask(commit('b')), ask(append('c')), ask(renew('b', NOW))])
    expect(results).toEqual([true, { appended: true }, expect.any(Boolean)])
    await administrator.query('COMMIT')
    administrator.release()
    expect(await settlement).toBe(true)
  })

  it('is refused at its time limit, with nothing written', async () => {
    const journal = scene.journalWith({ pool: scene.pool(), schema: scene.newSchema() })
    const { ask } = await queueOf(journal)
    const outbox = await openTransaction(scene.pool())
    await journal.persistIn?.(outbox, append('held', { id: 'order:1' }).row)
    const error = await ask(append('late', { id: 'order:1' })).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ effect: 'none' })
    expect((error as Error).message).toContain('is locked by a transaction that is still open (55P03)')
    await outbox.query('ROLLBACK')
    outbox.release()
    expect(await ask(append('late', { id: 'order:1' }))).toEqual({ appended: true })
  })
})

it('a value that the table does not take fails alone', async () => {
  const { ask } = await queueOf(scene.journal())
  const results = await Promise.allSettled([
    ask(append('good-1')),
    ask(append('bad', { head: 'with a \0' })),
    ask(append('bad too', { leaseUntil: 1e300 })),
    ask(append('good-2')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ effect: 'none' })
})

it('a connection that hangs delays its own batch, and no other', async () => {
  const proxy = new SilentProxy(new URL(scene.url))
  const through = new URL(scene.url)
  through.host = `127.0.0.1:${await proxy.start()}`
  const name = `${scene.schema}_hanging`
  through.searchParams.set('application_name', name)
  const journal = scene.journalWith({ connectionString: through.href, schema: scene.newSchema() })
  const { ask } = await queueOf(journal)
  const listening = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%LISTEN%'`
  await expect.poll(() => scene.query(listening, [name])).toHaveLength(1)
  // The connection that was used last is the journal's.
  await ask(held('a'))
  const { hit, over } = proxy.silence({ ms: 4000, of: 'one', end: 'broken' })
  let isAnswered = false
  const hanging = ask(append('b')).finally(() => {
    isAnswered = true
  })
  expect(await hit).toBe(true)
  expect(await ask(renew('a', NOW + 60_000))).toBe(true)
  expect(await ask(append('c'))).toEqual({ appended: true })
  expect(isAnswered).toBe(false)
  // Its connection is taken for dead, and another one is asked what became of it.
  expect(await hanging).toEqual({ appended: true })
  await over
  proxy.stop()
})
