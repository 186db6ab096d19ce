import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createClient, type Journal } from '../../../src/index.ts'
import { postgresJournal } from '../../../src/postgres/index.ts'
import { append, list } from '../../../src/testing/contracts/journal/sample-row.ts'
import { replicatedScene } from '../../support/standby.ts'

const scene = replicatedScene()
const opened: Journal[] = []

beforeAll(() => scene.query('CREATE TABLE orders (name text)'))
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
})

async function journal(options = ''): Promise<Journal> {
  const made = postgresJournal({ pool: scene.pool({ options }), requireSynchronousStandby: true })
  opened.push(made)
  await made.open()
  return made
}

const NO_STANDBY = /has no synchronous standby: synchronous_standby_names is empty.*requireSynchronousStandby/

describe('a journal that requires a synchronous standby', () => {
  it('refuses to open on a server that has none, and for a role that does not wait', async () => {
    await scene.require('')
    await expect(journal()).rejects.toThrow(NO_STANDBY)
    await scene.require('ANY 1 (*)')
    await expect(journal('-c synchronous_commit=off')).rejects.toThrow("synchronous_commit is 'off'")
    expect((await journal()).level).toBe('power')
  })

  it('refuses what writes as soon as the setting is emptied, on the connections that it has', async () => {
    const strict = await journal()
    expect(await strict.execute([append('a')])).toEqual([{ appended: true }])
    await scene.require('')
    await expect(strict.execute([append('b')])).rejects.toThrow(NO_STANDBY)
    await expect(strict.execute([append('b')])).rejects.toMatchObject({ effect: 'none' })
    expect(await strict.execute([list()])).toMatchObject([[{ key: 'a' }]])
  })

  it('refuses a batch of several callers as a whole', async () => {
    const strict = await journal()
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', journal: strict, namespace: 'batch' })
    await client.operation('none')
    await scene.require('')
    const calls = ['a', 'a', 'b'].map((id) => client.post('/charges', { body: 'x', id }))
    for (const call of calls) await expect(call).rejects.toThrow(NO_STANDBY)
    await client.close()
  })

  it('refuses to persist in the transaction of a caller, and leaves that as it was', async () => {
    const strict = await journal()
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', journal: strict, namespace: 'outbox' })
    const db = await scene.pool().connect()
    const persist = async (id: string) => (await client.prepare('POST', '/charges', { body: 'x', id })).persist(db)
    await db.query("BEGIN; INSERT INTO orders VALUES ('one')")
    await persist('one')
    await scene.require('')
    await expect(persist('two')).rejects.toThrow(NO_STANDBY)
    await scene.require('ANY 1 (*)')
    await db.query('SET LOCAL synchronous_commit = off')
    await expect(persist('three')).rejects.toThrow("synchronous_commit is 'off'")
    await db.query('COMMIT')
    db.release()
    expect(await client.operation('one')).toMatchObject({ status: 'pending' })
    expect(await client.operation('two')).toBeUndefined()
    expect(await scene.query('SELECT name FROM orders')).toEqual([{ name: 'one' }])
    await client.close()
  })

  it('what was committed while its wait was cancelled is not done before it is on a standby', async () => {
    const strict = await journal()
    await scene.stopStandby()
    const appending = strict.execute([append('late')])
    await scene.cancelWait()
    // It asks again: that writes no row, and waits all the same.
    await scene.waiting()
    await scene.startStandby()
    expect(await appending).toEqual([{ appended: true }])
    await scene.stopStandby()
    const lost = strict.execute([append('lost')])
    lost.catch(() => {})
    for (let wait = 0; wait < 2; wait++) await scene.cancelWait()
    await scene.require('')
    await expect(lost).rejects.toThrow(StorageError)
    await expect(lost).rejects.toMatchObject({ effect: 'unknown' })
    await scene.startStandby()
  })
})
