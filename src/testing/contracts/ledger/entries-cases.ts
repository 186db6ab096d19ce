import type { EntriesQuery, LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { claimed, draft, entryAt, LAPSED, now, recorded } from './sample-entry.ts'

async function keysOf(store: LedgerStore, query: EntriesQuery = {}): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.entries(query)) keys.push(key)
  return keys
}

async function unknown(store: LedgerStore, key: string): Promise<void> {
  await store.abandon(await claimed(store, key), now())
}

export const entriesCases: Record<string, LedgerCase> = {
  'entries: none where there are none': async ({ store }) => {
    expectSame(await keysOf(store), [], 'the keys')
    const after = { scope: 'never', key: 'there', createdAt: now() }
    expectSame(await keysOf(store, { state: 'unknown', after }), [], 'the keys behind one that is not there')
  },
  'entries: oldest first, whole, and by state and scope': async ({ store }) => {
    await recorded(store, 'c')
    await claimed(store, 'a')
    await unknown(store, 'b')
    await claimed(store, 'a', { scope: 'else' })
    expectSame(await keysOf(store), ['c', 'a', 'b', 'a'], 'all')
    expectSame(await keysOf(store, { state: 'running' }), ['a', 'a'], 'the running ones')
    expectSame(await keysOf(store, { state: 'unknown' }), ['b'], 'the unknown ones')
    expectSame(await keysOf(store, { scope: 'else' }), ['a'], 'those of a scope')
    expectSame(await keysOf(store, { scope: 'else', state: 'unknown' }), [], 'the unknown ones of a scope')
    for await (const entry of store.entries({ state: 'done' }))
      expectSame(entry, await entryAt(store, 'c'), 'the entry')
  },
  'entries: page after page, each one once': async ({ store }) => {
    const keys = Array.from({ length: 120 }, (_, at) => `k${at}`)
    for (const key of keys) await unknown(store, key)
    expectSame(await keysOf(store, { state: 'unknown' }), keys, 'all')
    expectSame(await keysOf(store, { limit: 70 }), keys.slice(0, 70), 'the first 70')
    const after = await entryAt(store, 'k69')
    expectSame(await keysOf(store, { state: 'unknown', after }), keys.slice(70), 'those behind')
    expectSame(await keysOf(store, { after, limit: 2 }), ['k70', 'k71'], 'two of them')
    expectSame(await keysOf(store, { after: await entryAt(store, 'k119') }), [], 'those behind the last')
  },
  'entries: goes on where the last one seen is gone': async ({ store }) => {
    const at = now()
    const claims = []
    for (const [index, key] of ['a', 'b', 'c'].entries()) claims.push(await claimed(store, key, { now: at + index }))
    const [, second, third] = claims
    const after = await entryAt(store, 'b')
    if (second) await store.release(second)
    expectSame((await keysOf(store, { after })).includes('c'), true, 'the one behind is listed')
    if (third) await store.release(third)
    expectSame((await keysOf(store, { after })).includes('c'), false, 'and gone')
  },
  'entries: is not disturbed by what is done to those that were listed': async ({ store }) => {
    const keys = Array.from({ length: 110 }, (_, at) => `k${at}`)
    for (const key of keys) await unknown(store, key)
    const seen: string[] = []
    for await (const entry of store.entries({ state: 'unknown' })) {
      seen.push(entry.key)
      const claim = await store.takeOver(entry, draft(entry.key))
      if (claim) await store.release(claim)
    }
    expectSame(seen, keys, 'the keys')
  },
  'takeOver: an entry that is only asked about keeps its age': async ({ store }) => {
    await claimed(store, 'a', LAPSED)
    const seen = await entryAt(store, 'a')
    await store.takeOver(seen, draft('a', { createdAt: seen.createdAt - 5_000 }))
    expectSame((await entryAt(store, 'a')).createdAt, seen.createdAt - 5_000, 'the age')
  },
  'reap: reports each entry that has become unknown': async ({ store }) => {
    for (const key of ['a', 'b']) await claimed(store, key, { ...LAPSED, external: true })
    await claimed(store, 'inside', LAPSED)
    const reported: string[] = []
    const onAbandoned = ({ key, state }: { key: string; state: string }): number => reported.push(`${key} ${state}`)
    await store.reap({ limit: 10, now: now(), onAbandoned })
    await store.reap({ limit: 10, now: now(), onAbandoned })
    expectSame(reported.sort(), ['a unknown', 'b unknown'], 'the reported entries')
  },
}
