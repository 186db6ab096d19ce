import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import type { HoldfastError } from '../../../src/errors/holdfast-error.ts'
import { createLedger, json, reply } from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const down = (): Promise<never> => Promise.reject(new StorageError('down'))

async function thrown(work: Promise<unknown>): Promise<HoldfastError> {
  return work.then(
    () => expect.fail('it was not rejected'),
    (error: HoldfastError) => error,
  )
}

/** What a handler gets from its effect. */
async function effectFailure(shop: ReturnType<typeof protectedShop>, key = 'k'): Promise<HoldfastError> {
  let failure: Promise<HoldfastError> | undefined
  const handler = shop.serve(async (_, { effect }) => {
    failure = thrown(effect(() => json({})))
    await failure
    return reply(null)
  })
  await handler(ask(key))
  return failure ?? expect.fail('the handler was not called')
}

describe('an error of the server half says that something may have been done', () => {
  it('where the claim was lost', async () => {
    const shop = protectedShop({ lease: '9s' })
    let reason: unknown
    const handler = shop.serve(async (_, { signal }) => {
      await shop.clock.sleep(5_000)
      reason = signal.reason
      return reply(null)
    })
    shop.store.renew = async () => false
    const answer = handler(ask('k'))
    await shop.clock.advance('6s')
    await answer
    expect(reason).toMatchObject({ code: 'HOLDFAST_CLAIM_LOST', effect: 'unknown', reason: 'lease-lost' })
  })

  it('where the store failed at the commit', async () => {
    const shop = protectedShop()
    const transact = shop.store.transact.bind(shop.store)
    shop.store.transact = (transaction) => transact(transaction).then(down)
    expect(await effectFailure(shop)).toMatchObject({ name: 'StorageError', effect: 'unknown', message: 'down' })
  })

  it('where the handler is external, however early the store failed', async () => {
    const inside = protectedShop()
    inside.store.transact = down
    expect(await effectFailure(inside)).toMatchObject({ name: 'StorageError', effect: 'none' })
    const outside = protectedShop({}, { external: true })
    outside.store.transact = down
    expect(await effectFailure(outside)).toMatchObject({ name: 'StorageError', effect: 'unknown' })
    outside.store.transact = () => Promise.reject(new ConfigurationError('not that handle'))
    expect(await effectFailure(outside, 'other')).toMatchObject({ name: 'ConfigurationError', effect: 'unknown' })
  })

  it('where an answer could not be recorded, or the store did not answer in time', async () => {
    const shop = protectedShop({ storeTimeout: '5s' })
    const handler = shop.serve(async () => reply('done'))
    shop.store.complete = down
    await handler(ask('k'))
    shop.store.complete = () => new Promise(() => {})
    const slow = handler(ask('slow'))
    await shop.clock.advance('5s')
    await slow
    const errors = shop.events.flatMap((event) => (event.type === 'ledger.failed' ? [event.error] : []))
    expect(errors.length).toBeGreaterThan(1)
    for (const error of errors) expect(error).toMatchObject({ name: 'StorageError', effect: 'unknown' })
    await shop.clock.advance(0)
  })

  it('where the commit of a message failed, but not where it was never begun', async () => {
    const shop = protectedShop()
    const consume = shop.store.consume.bind(shop.store)
    shop.store.consume = (message, consumption) => consume(message, consumption).then(down)
    expect(await thrown(shop.ledger.once('m', () => 1, { scope: 's' }))).toMatchObject({ effect: 'unknown' })
    shop.store.consume = down
    expect(await thrown(shop.ledger.once('m', () => 1, { scope: 's' }))).toMatchObject({ effect: 'none' })
  })

  it('where the word of an operator may have been written', async () => {
    const shop = protectedShop({}, { external: true })
    await shop.serve(async () => json({}, { status: 503 }))(ask('k'))
    shop.store.complete = down
    expect(await thrown(shop.ledger.resolve('public', 'k', json({})))).toMatchObject({ effect: 'unknown' })
  })

  it('where the handler was called and is used wrongly', async () => {
    const shop = protectedShop()
    const twice = shop.serve(async (_, { effect }) => {
      await effect(() => json({ n: 1 }))
      return effect(() => json({ n: 2 }))
    })
    await twice(ask('twice'))
    expect(shop.events.at(-1)).toMatchObject({ type: 'handler.failed', error: { effect: 'unknown' } })
    const nothing = shop.serve(async () => undefined as never)
    expect(await thrown(nothing(ask('nothing')))).toMatchObject({ name: 'ConfigurationError', effect: 'unknown' })
  })

  it('where work in SQLite has ended its own transaction, or goes on outside of it', async () => {
    const database = new Database(':memory:')
    const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'public' })
    const ending = (tx: Database.Database): number => {
      tx.exec('COMMIT')
      return 1
    }
    const protectedBy = (work: (tx: Database.Database) => unknown) =>
      ledger.protect((_, { effect }) => effect(work as () => ReturnType<typeof json>))
    const commits = protectedBy((tx) => json(ending(tx)))
    const waits = protectedBy(async () => json({}))
    for (const failure of [
      thrown(commits(ask('commits'))),
      thrown(waits(ask('waits'))),
      thrown(ledger.once('m', ending, { scope: 's' })),
    ]) {
      expect(await failure).toMatchObject({ code: 'HOLDFAST_CONFIGURATION', effect: 'unknown' })
    }
  })
})
