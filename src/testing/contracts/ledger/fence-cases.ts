import type { Claim, LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame, expectThat } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import {
  answer,
  COMMITTED,
  claimed,
  draft,
  entryAt,
  LAPSED,
  lease,
  now,
  recorded,
  stateOf,
  transact,
  transacted,
} from './sample-entry.ts'

/** Every write under one claim. */
async function writes(store: LedgerStore, claim: Claim): Promise<unknown[]> {
  let worked = false
  const work = (): typeof COMMITTED => {
    worked = true
    return COMMITTED
  }
  return [
    await store.renew(claim, lease(60_000)),
    await store.complete(claim, answer({ status: 599 }), now()),
    await store.release(claim),
    await store.abandon(claim, now()),
    await transacted(store, transact(claim, work)),
    worked,
  ]
}

const REFUSED = [false, false, false, false, 'lost', false]

export const ledgerFenceCases: Record<string, LedgerCase> = {
  'fence: a claim that was taken over writes nothing any more, and its work is not called': async ({ store }) => {
    const old = await claimed(store, 'a', LAPSED)
    await store.takeOver(await entryAt(store, 'a'), draft('a'))
    const before = await entryAt(store, 'a')
    expectSame(await writes(store, old), REFUSED, 'the writes')
    expectSame(await entryAt(store, 'a'), before, 'the entry')
  },
  'fence: an answer on record is final, even for its own claim': async ({ store }) => {
    const claim = await recorded(store, 'a')
    const before = await entryAt(store, 'a')
    expectSame(await writes(store, claim), REFUSED, 'the writes')
    expectSame(await entryAt(store, 'a'), before, 'the entry')
  },
  'fence: an entry that was given up takes nothing from its old claim but the answer': async ({ store }) => {
    const claim = await claimed(store, 'a')
    await store.abandon(claim, now())
    const before = await entryAt(store, 'a')
    const others = [
      await store.renew(claim, lease(60_000)),
      await store.release(claim),
      await store.abandon(claim, now()),
      await transacted(
        store,
        transact(claim, () => COMMITTED),
      ),
    ]
    expectSame(others, [false, false, false, 'lost'], 'the other writes')
    expectSame(await entryAt(store, 'a'), before, 'the entry')
    expectSame(await store.complete(claim, answer(), now()), true, 'the completion')
    expectSame(await stateOf(store, 'a'), 'done', 'the state')
  },
  'fence: an entry that a reaper has given up takes the answer of its runner': async ({ store }) => {
    const claim = await claimed(store, 'a', { ...LAPSED, external: true })
    await store.reap({ limit: 10, now: now() })
    expectSame(await stateOf(store, 'a'), 'unknown', 'the state before')
    expectSame(await store.complete(claim, answer(), now()), true, 'the completion')
    expectSame((await entryAt(store, 'a')).answer, answer(), 'the answer')
  },
  'fence: an entry that was given up and taken over takes no answer from its old claim': async ({ store }) => {
    const claim = await claimed(store, 'a')
    await store.abandon(claim, now())
    await store.takeOver(await entryAt(store, 'a'), draft('a'))
    expectSame(await writes(store, claim), REFUSED, 'the writes')
  },
  'fence: a claim that was released is over': async ({ store }) => {
    const claim = await claimed(store, 'a')
    expectSame(await store.release(claim), true, 'the release')
    expectSame(await writes(store, claim), REFUSED, 'the writes')
    expectSame(await stateOf(store, 'a'), 'absent', 'the entry')
  },
  'renew: the lease is longer, and everything else as it was': async ({ store }) => {
    const claim = await claimed(store, 'a', { leaseMs: 1_000 })
    const before = await entryAt(store, 'a')
    expectSame(await store.renew(claim, lease(500_000)), true, 'the renewal')
    const { leaseUntil, ...rest } = await entryAt(store, 'a')
    expectThat(leaseUntil >= before.createdAt + 500_000, 'the lease counts from now')
    expectSame({ ...rest, leaseUntil: before.leaseUntil }, before, 'the rest')
  },
  'renew: a renewal that arrives after a later one leaves the lease as it is': async ({ store }) => {
    const claim = await claimed(store, 'a', { leaseMs: 1_000 })
    await store.renew(claim, lease(500_000))
    const { leaseUntil } = await entryAt(store, 'a')
    expectSame(await store.renew(claim, lease(10_000)), true, 'the late renewal')
    expectSame((await entryAt(store, 'a')).leaseUntil, leaseUntil, 'the end of the lease')
  },
  'renew: a lapsed lease that was not taken over is still ours': async ({ store }) => {
    const claim = await claimed(store, 'a', LAPSED)
    expectSame(await store.renew(claim, lease(60_000)), true, 'the renewal')
    expectSame(await store.complete(claim, answer(), now()), true, 'the completion')
  },
  'complete: the answer is on record, and when': async ({ store }) => {
    const claim = await claimed(store, 'a')
    expectSame(await store.complete(claim, answer(), now()), true, 'the completion')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.token, entry.attempt], ['done', claim.token, 1], 'the entry')
    expectSame(entry.answer, answer(), 'the answer')
    expectThat(entry.completedAt !== null && entry.completedAt >= entry.createdAt, 'it was completed after it began')
  },
  'abandon: the outcome is unknown, and there is no answer': async ({ store }) => {
    expectSame(await store.abandon(await claimed(store, 'a'), now()), true, 'the answer')
    const { state, completedAt, answer: none } = await entryAt(store, 'a')
    expectSame([state, completedAt, none], ['unknown', null, null], 'the entry')
  },
}
