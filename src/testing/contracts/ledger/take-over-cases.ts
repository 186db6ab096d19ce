import type { Claim } from '../../../server/ledger/port.ts'
import { expectSame, expectThat } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import {
  answer,
  COMMITTED,
  claimed,
  draft,
  EXPIRED,
  entryAt,
  LAPSED,
  lease,
  now,
  recorded,
  SCOPE,
  stateOf,
  transact,
  transacted,
} from './sample-entry.ts'

export const takeOverCases: Record<string, LedgerCase> = {
  'takeOver: puts a new claim in place of the one that was seen': async ({ store }) => {
    await claimed(store, 'a', LAPSED)
    const asked = draft('a', { path: '/else', external: true })
    const claim = await store.takeOver(await entryAt(store, 'a'), asked)
    expectSame(claim, { scope: SCOPE, key: 'a', token: asked.token, attempt: 2 }, 'the claim')
    const { state, attempt, token, path, external, inEffect, leaseUntil, createdAt } = await entryAt(store, 'a')
    const seen = { state, attempt, token, path, external, inEffect }
    const expected = {
      state: 'running',
      attempt: 2,
      token: asked.token,
      path: '/else',
      external: true,
      inEffect: false,
    }
    expectSame(seen, expected, 'the entry')
    expectSame(leaseUntil - createdAt, asked.leaseMs, 'the lease')
  },
  'takeOver: from unknown the attempts are counted on': async ({ store }) => {
    await store.abandon(await claimed(store, 'a'), now())
    expectSame((await store.takeOver(await entryAt(store, 'a'), draft('a')))?.attempt, 2, 'the attempt')
    expectSame(await stateOf(store, 'a'), 'running', 'the state')
  },
  'takeOver: from an answer past its retention it is a new entry': async ({ store }) => {
    await store.takeOver(await claimed(store, 'a', LAPSED).then(() => entryAt(store, 'a')), draft('a', EXPIRED))
    const { token } = await entryAt(store, 'a')
    await store.complete({ scope: SCOPE, key: 'a', token, attempt: 2 }, answer(), now())
    expectSame((await store.takeOver(await entryAt(store, 'a'), draft('a')))?.attempt, 1, 'the attempt')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.attempt, entry.answer, entry.completedAt], ['running', 1, null, null], 'the entry')
    expectThat(entry.expiresAt > entry.createdAt, 'it is remembered anew')
  },
  'takeOver: an answer that is still remembered stays': async ({ store }) => {
    await recorded(store, 'a')
    const before = await entryAt(store, 'a')
    expectSame(await store.takeOver(before, draft('a')), undefined, 'the claim')
    expectSame(await entryAt(store, 'a'), before, 'the entry')
  },
  'takeOver: nothing where another claim was faster': async ({ store }) => {
    const same = { ...LAPSED, now: now() }
    await claimed(store, 'a', same)
    const seen = await entryAt(store, 'a')
    const first = await store.takeOver(seen, draft('a', same))
    expectSame(await store.takeOver(seen, draft('a')), undefined, 'the second claim')
    expectSame((await entryAt(store, 'a')).token, first?.token, 'the token')
  },
  'takeOver: of twenty at the same time one wins': async ({ store }) => {
    await claimed(store, 'a', LAPSED)
    const seen = await entryAt(store, 'a')
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.takeOver(seen, draft('a'))))
    expectSame(claims.filter((claim) => claim !== undefined).length, 1, 'how many won')
    expectSame((await entryAt(store, 'a')).attempt, 2, 'the attempt')
  },
  'takeOver: nothing where the entry has moved on meanwhile': async ({ store }) => {
    const moves = {
      done: (claim: Claim) => store.complete(claim, answer(), now()),
      unknown: (claim: Claim) => store.abandon(claim, now()),
      absent: (claim: Claim) => store.release(claim),
    }
    for (const [state, move] of Object.entries(moves)) {
      const claim = await claimed(store, state, { ...LAPSED, ...EXPIRED })
      const seen = await entryAt(store, state)
      await move(claim)
      expectSame(await store.takeOver(seen, draft(state)), undefined, state)
      expectSame(await stateOf(store, state), state, `${state}, afterwards`)
    }
  },
  'takeOver: nothing where the claim was renewed since it was seen': async ({ store }) => {
    const claim = await claimed(store, 'a', LAPSED)
    const seen = await entryAt(store, 'a')
    await store.renew(claim, lease(60_000))
    expectSame(await store.takeOver(seen, draft('a')), undefined, 'the claim')
    expectSame(await store.complete(claim, answer(), now()), true, 'the first one goes on')
  },
  'takeOver: a committed transaction beats a late one': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a', LAPSED)
    const seen = await entryAt(store, 'a')
    expectSame(await transacted(store, transact(claim, effect('late', COMMITTED))), 'recorded', 'the transaction')
    expectSame(await store.takeOver(seen, draft('a')), undefined, 'the claim')
    expectSame([await stateOf(store, 'a'), await count('late')], ['done', 1], 'state and effects')
  },
}
