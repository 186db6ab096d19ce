import type { EraseBatch, ErasePlace } from '../../../server/entry/upkeep.ts'
import type { LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame, expectThat } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { claimed, consumption, draft, entryAt, message, met, now, recorded, SCOPE, stateOf } from './sample-entry.ts'

/** All batches of two rows. */
async function eraseAll(store: LedgerStore, what: EraseBatch['what']): Promise<{ erased: number; left: number }> {
  const total = { erased: 0, left: 0 }
  let after: ErasePlace | undefined
  for (let round = 0; round < 50; round++) {
    const { erased, left, next } = await store.erase({ scope: SCOPE, what, after, limit: 2 })
    total.erased += erased
    total.left += left
    if (!next) return total
    after = next
  }
  throw new Error('An erasure of a few rows has no end')
}

/** Five that are done, one that runs, one that is unknown, two messages, and another scope with one of each. */
async function fill(store: LedgerStore): Promise<void> {
  for (const key of ['a', 'c', 'e', 'g', 'i']) await recorded(store, key)
  await claimed(store, 'b')
  await store.abandon(await claimed(store, 'd', { external: true }), now())
  for (const id of ['m', 'n']) await consumed(store, id)
  await recorded(store, 'theirs', { scope: 'other' })
  await consumed(store, 'theirs', 'other')
}

async function consumed(store: LedgerStore, id: string, scope = SCOPE): Promise<string | null> {
  const work = consumption(() => 'value')
  return (await store.consume(message(id, { scope }), work)).value
}

function untouched(what: EraseBatch['what']): LedgerCase {
  return async ({ store }) => {
    await fill(store)
    const look = async () => [await entryAt(store, 'b'), await entryAt(store, 'd'), await store.find('other', 'theirs')]
    const before = await look()
    await eraseAll(store, what)
    expectSame(await look(), before, 'the entries')
    expectSame(await consumed(store, 'theirs', 'other'), 'value', 'the value of another scope')
  }
}

export const eraseCases: Record<string, LedgerCase> = {
  'erase: answers lose headers and body, and stay done': async ({ store }) => {
    await fill(store)
    expectSame(await eraseAll(store, 'answers'), { erased: 7, left: 2 }, 'what was erased')
    for (const key of ['a', 'c', 'e', 'g', 'i']) {
      const { entry } = await met(store, key)
      const erased = { status: 201, headers: [], body: null, bodyOmitted: true }
      expectSame([entry.state, entry.answer], ['done', erased], `the entry ${key}`)
    }
    expectSame([await consumed(store, 'm'), await consumed(store, 'n')], [null, null], 'the values')
    expectSame(await eraseAll(store, 'answers'), { erased: 0, left: 2 }, 'a second time')
  },
  'erase: entries and messages are deleted': async ({ store }) => {
    await fill(store)
    expectSame(await eraseAll(store, 'entries'), { erased: 7, left: 2 }, 'what was erased')
    expectSame(await stateOf(store, 'a'), 'absent', 'the state of one that was done')
    expectSame(await store.stats(now()), { running: 1, done: 1, unknown: 1, expired: 0, messages: 1 }, 'what is left')
  },
  ...Object.fromEntries(
    (['answers', 'entries'] as const).map((what) => [
      `erase: what runs or is unknown is as it was, and so are other scopes (${what})`,
      untouched(what),
    ]),
  ),
  'erase: an answer without headers and body has nothing to erase': async ({ store }) => {
    const claim = await claimed(store, 'empty')
    await store.complete(claim, { status: 204, headers: [], body: null, bodyOmitted: false }, now())
    expectSame(await eraseAll(store, 'answers'), { erased: 0, left: 0 }, 'what was erased')
    expectSame((await entryAt(store, 'empty')).answer?.bodyOmitted, false, 'whether a body is missing')
  },
  'count: the entries of a scope, in any state, no further than asked': async ({ store }) => {
    expectSame(await store.count(SCOPE, 10), 0, 'an empty store')
    await recorded(store, 'done')
    await claimed(store, 'running')
    await store.abandon(await claimed(store, 'unknown'), now())
    await store.insert(draft('theirs', { scope: 'other' }))
    expectSame(await store.count(SCOPE, 10), 3, 'all of them')
    expectSame(await store.count(SCOPE, 2), 2, 'no more than two')
    expectThat((await store.count('nobody', 10)) === 0, 'a scope that has none')
  },
}
