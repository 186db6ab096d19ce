import { afterEach, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { createClient } from '../../../src/index.ts'
import {
  append,
  claimByKey,
  claimCommand,
  commit,
  held,
  list,
  read,
  remove,
  setAside,
} from '../../../src/testing/contracts/journal/sample-row.ts'
import { type CuttingProxy, cuttingProxy } from '../../support/cutting-proxy.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()
/** The statement of every batch has the name of the function in it. */
const BATCH = 'holdfast_journal_v1'

let proxy: CuttingProxy | undefined
afterEach(async () => {
  await proxy?.close()
  proxy = undefined
})

/** A journal behind a proxy that can break its connections, and one that has its own way to the database. */
async function cutOff() {
  const made = await cuttingProxy(scene.url)
  proxy = made
  const schema = scene.newSchema()
  const journal = scene.journalWith({ pool: scene.pool({ connectionString: made.url }), schema })
  const other = scene.journalWith({ pool: scene.pool(), schema })
  await journal.open()
  await other.open()
  return { proxy: made, journal, other, schema }
}

async function failure(work: Promise<unknown>): Promise<StorageError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StorageError)
  return error as StorageError
}

describe.each(['before', 'after'] as const)('a connection that breaks %s the commit', (when) => {
  it('loses no append, and writes none twice', async () => {
    const { proxy, journal, other } = await cutOff()
    proxy.cutStatement(BATCH, when)
    expect(await journal.execute([held('a'), held('b', { id: 'order:1' })])).toEqual([
      { appended: true },
      { appended: true },
    ])
    expect(await other.execute([list()])).toMatchObject([[{ key: 'a' }, { key: 'b' }]])
  })

  it('loses no settlement, no removal and no row that was set aside', async () => {
    const { proxy, journal, other } = await cutOff()
    await journal.execute([held('a'), held('b'), held('c')])
    proxy.cutStatement(BATCH, when)
    expect(await journal.execute([commit('a'), remove('b'), setAside('c')])).toEqual([true, true, true])
    const [a, b, rows] = await other.execute([read('a'), read('b'), list()])
    expect(a).toMatchObject({ status: 'succeeded', owner: null })
    expect(b).toBeUndefined()
    expect(rows).toHaveLength(2)
  })

  it('hands out what it has claimed, once, and counts one claim', async () => {
    const { proxy, journal, other } = await cutOff()
    await other.execute([append('a'), append('b'), append('c')])
    proxy.cutStatement(BATCH, when)
    const [rows] = await journal.execute([claimCommand({ limit: 2 })])
    expect(rows).toMatchObject([
      { key: 'a', owner: 'you', epoch: 1 },
      { key: 'b', owner: 'you', epoch: 1 },
    ])
    proxy.cutStatement(BATCH, when)
    expect(await journal.execute([claimByKey('c')])).toMatchObject([[{ key: 'c', owner: 'you', epoch: 1 }]])
    expect(await journal.execute([claimCommand()])).toEqual([[]])
  })

  it('takes nothing for done that another runner has taken or written', async () => {
    const { proxy, journal, other } = await cutOff()
    await journal.execute([held('a'), held('b'), held('c')])
    await other.execute([claimCommand({ deadOwners: ['me'] })])
    proxy.cutStatement(BATCH, when)
    const [taken] = await journal.execute([
      append('a', { head: '{"other":1}' }),
      commit('a'),
      remove('b'),
      setAside('c'),
    ])
    expect(taken).toMatchObject({ appended: false, existing: { owner: 'you' } })
    proxy.cutStatement(BATCH, when)
    expect(await journal.execute([commit('a'), remove('b'), setAside('c')])).toEqual([false, false, false])
  })

  it('is told as unknown where the database cannot be asked for seconds', async () => {
    const { proxy, journal, other } = await cutOff()
    proxy.cutStatement(BATCH, when, 'down')
    const error = await failure(journal.execute([append('a')]))
    expect(error.effect).toBe('unknown')
    expect(error.message).toMatch(/The journal in Postgres lost the connection.* may or may not be there/)
    const [rows] = await other.execute([list()])
    expect(rows).toHaveLength(when === 'after' ? 1 : 0)
    proxy.setDown(false)
    expect(await journal.execute([append('b')])).toEqual([{ appended: true }])
  })
})

describe('a call whose record was in doubt', () => {
  it('goes on as if nothing had been', async () => {
    const { proxy, journal } = await cutOff()
    let requests = 0
    const fetch = async () => new Response(String(++requests))
    const client = createClient({ journal, baseUrl: 'http://127.0.0.1:1', fetch })
    await client.operation('none')
    proxy.cutStatement(BATCH, 'after')
    expect(await client.post('/charges', { body: 'x' }).text()).toBe('1')
    await client.close()
    expect(requests).toBe(1)
  })

  it('that stays so is told as unknown and pending, and a resume may do it once', async () => {
    const { proxy, journal, other, schema } = await cutOff()
    const sent: string[] = []
    const client = (on: typeof journal) =>
      createClient({
        journal: on,
        baseUrl: 'http://127.0.0.1:1',
        fetch: async (_, init) => {
          sent.push(new Headers(init?.headers).get('idempotency-key') ?? '')
          return new Response()
        },
      })
    const [cut, rescuer] = [client(journal), client(other)]
    await cut.operation('none')
    proxy.cutStatement(BATCH, 'after', 'down')
    const call = cut.post('/charges', { body: 'x' })
    expect(await failure(call as Promise<unknown>)).toMatchObject({
      effect: 'unknown',
      pending: true,
      reason: 'storage',
    })
    expect(sent).toEqual([])
    expect((await rescuer.operation(call.key))?.status).toBe('pending')
    await scene.query(`UPDATE ${schema}.holdfast_operations SET lease_until = 1`)
    expect(await rescuer.resume()).toMatchObject({ succeeded: 1 })
    expect(sent).toEqual([call.key])
    await rescuer.close()
    proxy.setDown(false)
    await cut.close()
  })
})

it('asks nothing twice where the server has answered', async () => {
  const { journal } = await cutOff()
  const startedAt = Date.now()
  const error = await failure(journal.execute([append('a', { head: 'with a \0' })]))
  expect(error.effect).toBe('none')
  expect(Date.now() - startedAt).toBeLessThan(2000)
})
