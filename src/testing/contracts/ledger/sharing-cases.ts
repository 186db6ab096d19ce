import { expectSame } from '../journal/expect.ts'
import { type LedgerCase, type LedgerContractOptions, type LedgerSubject, ledgerSubject } from './contract-case.ts'
import {
  answer,
  COMMITTED,
  claimed,
  consumption,
  draft,
  EXPIRED,
  entryAt,
  LAPSED,
  message,
  met,
  now,
  recorded,
  transact,
  transacted,
} from './sample-entry.ts'

type Another = NonNullable<LedgerContractOptions['another']>
type SharedCase = (one: LedgerSubject, two: LedgerSubject) => Promise<void>

const CASES: Record<string, SharedCase> = {
  'sharing: what one store has written, another one sees': async ({ store, effect }, two) => {
    await transacted(store, transact(await claimed(store, 'a'), effect('a', COMMITTED)))
    expectSame(await entryAt(two.store, 'a'), await entryAt(store, 'a'), 'the entry')
    expectSame((await met(two.store, 'a')).entry.answer, COMMITTED.answer, 'the answer')
    expectSame(await two.count('a'), 1, 'the effects')
  },
  'sharing: of fifty inserts into two stores one gets the claim': async (one, two) => {
    for (let round = 0; round < 5; round++) {
      const stores = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? one.store : two.store))
      const insertions = await Promise.all(stores.map((store) => store.insert(draft(`k${round}`))))
      const winners = insertions.filter(({ kind }) => kind === 'inserted').length
      expectSame(winners, 1, `how many were inserted in round ${round}`)
    }
  },
  'sharing: a claim that the other store took over writes nothing any more': async ({ store, effect, count }, two) => {
    const old = await claimed(store, 'a', LAPSED)
    const claim = await two.store.takeOver(await entryAt(two.store, 'a'), draft('a'))
    expectSame(await transacted(store, transact(old, effect('old', COMMITTED))), 'lost', 'the old claim')
    expectSame([await store.complete(old, answer(), now()), await store.release(old)], [false, false], 'its writes')
    if (claim)
      expectSame(
        await transacted(two.store, transact(claim, two.effect('new', COMMITTED))),
        'recorded',
        'the new claim',
      )
    expectSame([await count('old'), await count('new')], [0, 1], 'the effects')
  },
  'sharing: of two takeovers at the same time one wins': async (one, two) => {
    for (let round = 0; round < 10; round++) {
      const key = `k${round}`
      await claimed(one.store, key, LAPSED)
      const seen = await entryAt(one.store, key)
      const claims = await Promise.all([one, two].map(({ store }) => store.takeOver(seen, draft(key))))
      expectSame(claims.filter((claim) => claim !== undefined).length, 1, `winners of round ${round}`)
    }
  },
  'sharing: a message that is delivered to both is done once': async (one, two) => {
    const each = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : two)).map(({ store, message: work }) =>
      store.consume(message('m'), consumption(work('m', '"value"'))),
    )
    const consumed = await Promise.all(each)
    expectSame(consumed.filter(({ duplicate }) => !duplicate).length, 1, 'how many did it')
    expectSame([new Set(consumed.map(({ value }) => value)).size, await one.count('m')], [1, 1], 'values and effects')
  },
  'sharing: two reapers delete each row once': async (one, two) => {
    for (let at = 0; at < 10; at++) await recorded(one.store, `k${at}`, EXPIRED)
    const reaped = await Promise.all([one, two].map(({ store }) => store.reap({ limit: 100, now: now() })))
    expectSame((reaped[0]?.deleted ?? 0) + (reaped[1]?.deleted ?? 0), 10, 'rows deleted')
  },
}

/** For data that more than one store can use at once. */
export function ledgerSharingCases(another: Another): Record<string, LedgerCase> {
  const cases = Object.entries(CASES).map(([name, body]): [string, LedgerCase] => [
    name,
    async (one, options) => {
      const second = await another(one.store)
      try {
        await body(one, ledgerSubject(options, second))
      } finally {
        if (second !== one.store) await second.close()
      }
    },
  ])
  return Object.fromEntries(cases)
}
