import { connect, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { PeerMessage } from '../../../src/client/coordination/port.ts'
import type { Journal } from '../../../src/client/journal/port.ts'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import { createClient } from '../../../src/index.ts'
import { append } from '../../../src/testing/contracts/journal/sample-row.ts'
import { ask, journalScene } from '../../support/postgres-journal.ts'
import { deferred } from '../../support/postgres-ledger.ts'

const scene = journalScene()

const PENDING: PeerMessage = { is: 'pending', namespace: 'orders', key: 'a' }

/** The backends of this file's connections that listen. */
async function listeners(): Promise<number[]> {
  const text = `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query ILIKE '%LISTEN holdfast_journal%'`
  return (await scene.query<{ pid: number }>(text, [scene.schema])).map(({ pid }) => pid)
}

function heardBy(journal: Journal): PeerMessage[] {
  const heard: PeerMessage[] = []
  journal.onPeerMessage?.((message) => heard.push(message))
  return heard
}

/** Says it until it is heard: a listener may be about to connect. */
async function heardAgain(by: Journal, heard: readonly PeerMessage[]): Promise<void> {
  const say = (): number => {
    by.notifyPeers?.(PENDING)
    return heard.length
  }
  await expect.poll(say, { timeout: 10_000 }).toBeGreaterThan(0)
}

/** Two replicas that hear each other. */
async function replicas(): Promise<[Journal, Journal]> {
  const pair: [Journal, Journal] = [scene.journal(), scene.journal()]
  for (const journal of pair) await journal.open()
  await expect.poll(async () => (await listeners()).length, { timeout: 5000 }).toBe(2)
  return pair
}

describe('a message to the other replicas', () => {
  it('is heard by each that is on the same tables', async () => {
    const [one, other] = await replicas()
    const elsewhere = scene.journalWith({ pool: scene.pool(), schema: scene.newSchema() })
    await elsewhere.open()
    const [heard, unheard] = [heardBy(other), heardBy(elsewhere)]
    await heardAgain(one, heard)
    expect(heard[0]).toEqual(PENDING)
    expect(unheard).toEqual([])
  })

  it('about the level of an origin is not sent: that is one machine’s', async () => {
    const [one, other] = await replicas()
    const heard = heardBy(other)
    one.notifyPeers?.({ is: 'level', namespace: '', key: 'https://api.example.com', level: {} })
    await heardAgain(one, heard)
    expect(new Set(heard.map(({ is }) => is))).toEqual(new Set(['pending']))
  })

  it('is heard again after the connection was lost', async () => {
    const [one, other] = await replicas()
    const heard = heardBy(other)
    for (const pid of await listeners()) await scene.terminate(pid)
    await heardAgain(one, heard)
  })

  it('that is no message of ours is ignored', async () => {
    const [one, other] = await replicas()
    const heard = heardBy(other)
    const [channel] = await scene.query<{ name: string }>(
      `SELECT (regexp_match(query, 'LISTEN (\\w+)'))[1] AS name FROM pg_stat_activity WHERE pid = ${(await listeners())[0]}`,
    )
    for (const payload of ['', 'null', '{', '[null]', '[{"key":5}]']) {
      await scene.query('SELECT pg_notify($1, $2)', [channel?.name, payload])
    }
    await heardAgain(one, heard)
    expect(heard[0]).toEqual(PENDING)
  })
})

/** Polls, which wait for half a second, never end by themselves: only a message ends one. */
function deafClock(onPoll: () => void): Clock {
  const sleep: Clock['sleep'] = (ms, signal) => {
    if (ms === 500) onPoll()
    return systemClock.sleep(ms === 500 ? 1e9 : ms, signal)
  }
  return { now: systemClock.now, sleep }
}

describe('a client', () => {
  it('takes up at once what another replica has put into the outbox', async () => {
    const [one, other] = await replicas()
    const [sent, polls] = [deferred<void>(), deferred<void>()]
    const fetch = async () => {
      sent.resolve()
      return new Response()
    }
    const options = { baseUrl: 'http://127.0.0.1:1', namespace: 'outbox', fetch }
    const [client, resumer] = [
      createClient({ ...options, journal: one }),
      createClient({ ...options, journal: other, clock: deafClock(polls.resolve) }),
    ]
    const stop = new AbortController()
    const resuming = resumer.resume({ continuous: true, signal: stop.signal })
    await polls.promise
    const prepared = await client.prepare('POST', '/charges', { body: 'x' })
    const transaction = await scene.pool().connect()
    await transaction.query('BEGIN')
    await prepared.persist(transaction)
    await transaction.query('COMMIT')
    transaction.release()
    await sent.promise
    stop.abort()
    expect(await resuming).toMatchObject({ claimed: 1 })
    await Promise.all([client.close(), resumer.close()])
  })
})

/** A pooler, as far as a listener can tell: another process id than that of the backend behind it. */
async function pooler(url: string): Promise<{ url: string; close: () => void }> {
  const { port, hostname } = new URL(url)
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) socket.on('error', () => {}).on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.on('data', (data) => {
      const at = data.indexOf(Buffer.from([0x4b, 0, 0, 0]))
      if (at >= 0) data.writeInt32BE(77, at + 5)
      client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return { url: through.href, close: () => server.close() }
}

describe('behind a pooler', () => {
  it('the journal works, and listens to nothing', async () => {
    const { url, close } = await pooler(scene.url)
    const journal = scene.journal({ connectionString: url })
    expect(await ask(journal, append('pooled'))).toEqual({ appended: true })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await listeners()).toEqual([])
    journal.notifyPeers?.(PENDING)
    expect(await ask(journal, append('pooled'))).toMatchObject({ appended: false })
    close()
  })

  it('no statement has a name, and none changes the session', async () => {
    const texts: unknown[] = []
    const pool = scene.pool({ max: 1 })
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...given: unknown[]) => unknown
      Object.assign(client, {
        query: (...given: unknown[]) => {
          texts.push(given[0])
          return query(...given)
        },
      })
    })
    const journal = scene.journalWith({ pool, schema: scene.schema, sharedBudget: true })
    await ask(journal, append('plain'))
    const own = { tokens: 2, burst: 10, rest: 2, reservePerSecond: 0.1 }
    expect(await journal.sharedBudget?.take('https://plain.test', own)).toBe(true)
    expect(texts.at(-1)).toContain('holdfast_budgets')
    const settings = "SELECT name, setting FROM pg_settings WHERE source = 'session'"
    const { rows } = await pool.query(settings)
    expect(texts.every((text) => typeof text === 'string')).toBe(true)
    expect(rows.map(({ name }) => name)).not.toContain('lock_timeout')
  })
})
