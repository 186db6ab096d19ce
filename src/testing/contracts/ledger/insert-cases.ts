import { expectSame, expectThat } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { answer, claimed, draft, EXPIRED, entryAt, LAPSED, met, now, recorded, SCOPE, stateOf } from './sample-entry.ts'

export const insertCases: Record<string, LedgerCase> = {
  'insert: the first one gets the claim': async ({ store }) => {
    const asked = draft('a')
    const claim = { scope: SCOPE, key: 'a', token: asked.token, attempt: 1 }
    expectSame(await store.insert(asked), { kind: 'inserted', claim }, 'the insertion')
  },
  'insert: the entry is on record as it was asked for': async ({ store }) => {
    const asked = draft('a', { external: true, leaseMs: 1_234, retentionMs: 98_765 })
    await store.insert(asked)
    const { createdAt, leaseUntil, expiresAt, ...rest } = await entryAt(store, 'a')
    const { leaseMs, retentionMs, durable: _durable, now: _now, ...same } = asked
    const state = { state: 'running', attempt: 1, inEffect: false, version: 1 }
    const without = { completedAt: null, unknownSince: null, answer: null }
    expectSame(rest, { ...same, ...state, ...without }, 'the entry')
    expectSame([leaseUntil - createdAt, expiresAt - createdAt], [leaseMs, retentionMs], 'lease and retention')
  },
  'insert: of fifty at the same time one gets the claim, and the others are shown it': async ({ store }) => {
    const insertions = await Promise.all(Array.from({ length: 50 }, () => store.insert(draft('a'))))
    const winners = insertions.flatMap((insertion) => (insertion.kind === 'inserted' ? [insertion.claim.token] : []))
    expectSame(winners.length, 1, 'how many were inserted')
    const seen = insertions.flatMap((insertion) => (insertion.kind === 'found' ? [insertion.found.entry.token] : []))
    expectSame([seen.length, [...new Set(seen)]], [49, winners], 'what the others found')
  },
  'insert: what stands there is given exactly, with the time on the same clock': async ({ store }) => {
    await claimed(store, 'a')
    const { entry, now: time, owner } = await met(store, 'a')
    expectSame(entry, await entryAt(store, 'a'), 'the entry')
    expectThat(time >= entry.createdAt && time < entry.leaseUntil, 'the time lies between the claim and its lease')
    expectThat(owner !== 'gone', 'a runner that lives is not said to be gone')
  },
  'insert: what stands there is given whatever its state, and left as it is': async ({ store }) => {
    await claimed(store, 'lapsed', LAPSED)
    await recorded(store, 'done')
    await recorded(store, 'expired', { ...LAPSED, ...EXPIRED })
    await store.abandon(await claimed(store, 'unknown'), now())
    for (const key of ['lapsed', 'done', 'expired', 'unknown']) {
      const before = await entryAt(store, key)
      expectSame((await met(store, key)).entry, before, key)
      expectSame(await entryAt(store, key), before, `${key}, afterwards`)
    }
  },
  'insert: a key that was released is as good as new': async ({ store }) => {
    await store.release(await claimed(store, 'a'))
    expectSame((await claimed(store, 'a')).attempt, 1, 'the attempt')
  },
  'insert: a key belongs to its scope': async ({ store }) => {
    await store.complete(await claimed(store, 'a', { scope: 'one' }), answer(), now())
    await claimed(store, 'a', { scope: 'two' })
    expectSame(
      [(await store.find('one', 'a'))?.state, (await store.find('two', 'a'))?.state],
      ['done', 'running'],
      'both',
    )
    expectSame(await store.find('three', 'a'), undefined, 'a third scope')
  },
  'insert: scopes and keys are compared exactly, whatever is in them': async ({ store }) => {
    const texts = ['a', 'A', ' a', 'a ', 'é', 'e\u0301', '🦀', 'a|b', 'a","b', "'; DROP TABLE x; --", '%', '\\']
    const pairs: [string, string][] = texts.flatMap((text) => [
      [text, 'k'],
      ['s', text],
    ])
    pairs.push(['a|b', 'c'], ['a', 'b|c'], ['x'.repeat(255), 'y'.repeat(255)])
    for (const [scope, key] of pairs) await claimed(store, key, { scope, path: `/${scope}/${key}` })
    for (const [scope, key] of pairs)
      expectSame((await store.find(scope, key))?.path, `/${scope}/${key}`, `${scope} ${key}`)
  },
  'find: nothing where there is nothing': async ({ store }) => {
    expectSame([await store.find(SCOPE, 'a'), await stateOf(store, 'a')], [undefined, 'absent'], 'the entry')
  },
}
