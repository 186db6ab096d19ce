import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { turn } from '../support/client-scenario.ts'
import { leaveKept } from '../support/held-journal.ts'
import { type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

/** A body that comes when it is told to. */
function slowBody(): { readonly body: AsyncIterable<Uint8Array>; end(error?: Error): void } {
  let end!: (error?: Error) => void
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve())
  })
  async function* chunks(): AsyncGenerator<Uint8Array> {
    await ended
    yield new TextEncoder().encode('one')
  }
  return { body: chunks(), end }
}

describe('nobody is told of an unhandled rejection', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  let others: NodeJS.UnhandledRejectionListener[] = []

  beforeEach(() => {
    unhandled.length = 0
    others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', note)
  })
  afterEach(() => {
    process.removeAllListeners('unhandledRejection')
    for (const other of others) process.on('unhandledRejection', other)
  })

  const expectNone = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await turn()
    expect(unhandled).toEqual([])
  }

  it('where a body fails for a caller who has already left', async () => {
    const { body, end } = slowBody()
    const signal = AbortSignal.abort(new Error('left'))
    const call = outcome(neighbourhood().client().post('/charges', { body, signal }))
    end(new Error('The file is gone'))
    expect((await call).error).toMatchObject({ message: 'left' })
    await expectNone()
  })

  it('where a body fails on a client that is closed', async () => {
    const client = neighbourhood().client()
    await client.close()
    const { body, end } = slowBody()
    const call = outcome(client.post('/charges', { body }))
    end(new Error('The file is gone'))
    expect((await call).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await expectNone()
  })

  it('by a handle whose cancel() alone is awaited', async () => {
    await neighbourhood().client().post('/charges', { body: 'one' }).cancel()
    await expectNone()
  })

  it('by a handle that is cancelled in the middle of an attempt', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const handle = place.client().post('/charges', { body: 'one' })
    await settle(place.clock)
    await handle.cancel()
    await expectNone()
  })
})

describe('forget()', () => {
  it('refuses a call that is still taking its body: nothing is written or sent', async () => {
    const place = neighbourhood()
    const client = place.client()
    const { body, end } = slowBody()
    const call = outcome(client.post('/charges', { body }))
    await settle(place.clock)
    await client.forget()
    end()
    await settle(place.clock)
    expect((await call).error).toMatchObject({ name: 'NotSentError', reason: 'aborted', effect: 'none' })
    expect(client.journal.commands.map((command) => command.do)).not.toContain('append')
    expect(place.server.calls).toHaveLength(0)
  })
})

describe('the handle of retry()', () => {
  it('has the id of the record, and is accepted as soon as that is known', async () => {
    const place = neighbourhood()
    const key = await leaveKept(place, 'order:1')
    place.server.weather = () => ({ status: 400, delay: 5000 })
    const handle = place.client().retry(key)
    const call = outcome(handle)
    const accepted = outcome(handle.accepted)
    await settle(place.clock)
    expect(await accepted).toEqual({ value: 'memory' })
    expect(handle).toMatchObject({ id: 'order:1', key })
    await place.clock.advance(5000)
    expect((await call).error).toMatchObject({ name: 'RejectedError' })
    expect(await handle.accepted).toBe('memory')
  })

  it('knows the key of an operation that was asked for by id', async () => {
    const place = neighbourhood()
    const key = await leaveKept(place, 'order:1')
    const handle = place.client().retry('order:1')
    expect((await handle).status).toBe(201)
    expect(handle).toMatchObject({ id: 'order:1', key })
  })
})

const TERMS = { id: 'order:1', body: 'one', headers: { authorization: 'Bearer mine' }, retry: false } as const

function outbox(): { readonly db: Database.Database; readonly place: Neighbourhood } {
  const db = new Database(join(temporaryFolder(), 'shop.db'))
  db.pragma('journal_mode = WAL')
  const journal = sqliteJournal({ database: db })
  afterwards(() => db.close())
  afterwards(() => journal.close())
  return { db, place: neighbourhood(journal) }
}

for (const persisted of [false, true]) {
  describe(`send() of what was prepared${persisted ? ' and persisted' : ''}`, () => {
    const send = async (options: { readonly onGiveUp?: 'fail' | 'keep' } = {}) => {
      const { db, place } = outbox()
      const client = place.client({ journal: place.disk })
      const prepared = await client.prepare('POST', '/charges', { ...TERMS, ...options, deadline: '7s' })
      if (persisted) db.transaction(() => void prepared.persist(db))()
      place.server.weather = () => ({ status: 503 })
      const handle = client.send(prepared)
      return { place, prepared, handle, error: (await outcome(handle)).error }
    }

    for (const onGiveUp of ['fail', 'keep'] as const) {
      it(`keeps the deadline, the retries, onGiveUp '${onGiveUp}' and the credentials of prepare()`, async () => {
        const { place, error } = await send({ onGiveUp })
        expect(place.server.calls).toMatchObject([
          { headers: { authorization: 'Bearer mine', 'request-timeout-ms': '7000' } },
        ])
        expect(error).toMatchObject({ reason: 'attempts', pending: onGiveUp === 'keep' })
      })
    }

    it('is accepted although it then fails, and has the id and key of the record', async () => {
      const { prepared, handle } = await send()
      expect(await handle.accepted).toBe('power')
      expect(handle).toMatchObject({ id: 'order:1', key: prepared.key })
    })
  })
}
