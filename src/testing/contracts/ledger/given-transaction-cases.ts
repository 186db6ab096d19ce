import { expectSame } from '../journal/expect.ts'
import type { LedgerCase, LedgerContractOptions, LedgerSubject } from './contract-case.ts'
import {
  COMMITTED,
  claimed,
  consumption,
  draft,
  entryAt,
  LAPSED,
  message,
  RELEASED,
  ROLLED_BACK,
  rejection,
  stateOf,
  transact,
  transacted,
} from './sample-entry.ts'

type InTransaction = NonNullable<LedgerContractOptions['inTransaction']>

const broken = new Error('the work failed')

function fails(): never {
  throw broken
}

/** A store in the hands of a case, and transactions of the caller's own. */
interface GivenSubject extends LedgerSubject {
  /** Runs the work in a transaction, and ends that. */
  inside(work: (tx: unknown) => Promise<void>, end: 'commit' | 'rollback'): Promise<void>
  write(tx: unknown, name: string): Promise<void> | void
}

const CASES: Record<string, (subject: GivenSubject) => Promise<void>> = {
  'given transaction: the entry and the work are committed with it': async ({
    store,
    effect,
    count,
    inside,
    write,
  }) => {
    const claim = await claimed(store, 'a')
    await inside(async (tx) => {
      await write(tx, 'before')
      expectSame(await transacted(store, transact(claim, effect('a', COMMITTED), tx)), 'uncommitted', 'the end')
      await write(tx, 'after')
    }, 'commit')
    expectSame([await stateOf(store, 'a'), await count('a')], ['done', 1], 'state and effects')
    expectSame([await count('before'), await count('after')], [1, 1], "the caller's own writes")
    expectSame((await entryAt(store, 'a')).answer, COMMITTED.answer, 'the answer')
  },
  'given transaction: the entry and the work are rolled back with it': async ({ store, effect, count, inside }) => {
    const claim = await claimed(store, 'a')
    await inside(async (tx) => void (await transacted(store, transact(claim, effect('a', COMMITTED), tx))), 'rollback')
    expectSame([await stateOf(store, 'a'), await count('a')], ['running', 0], 'state and effects')
    expectSame(await store.release(claim), true, 'the claim is still good')
  },
  'given transaction: undo takes back the work alone': async ({ store, effect, count, inside, write }) => {
    const claim = await claimed(store, 'a')
    await inside(async (tx) => {
      await write(tx, 'before')
      expectSame(await transacted(store, transact(claim, effect('a', ROLLED_BACK), tx)), 'uncommitted', 'the end')
    }, 'commit')
    expectSame([await stateOf(store, 'a'), await count('a'), await count('before')], ['done', 0, 1], 'what is left')
  },
  'given transaction: free and a throw take back the work alone; only the first frees the key': async ({
    store,
    effect,
    count,
    inside,
    write,
  }) => {
    const one = await claimed(store, 'one')
    const two = await claimed(store, 'two')
    await inside(async (tx) => {
      await write(tx, 'before')
      expectSame(await transacted(store, transact(one, effect('one', RELEASED), tx)), 'released', 'the end')
      const error = await rejection(transacted(store, transact(two, effect('two', fails), tx)))
      expectSame(error === broken, true, 'the very same error')
    }, 'commit')
    expectSame([await stateOf(store, 'one'), await stateOf(store, 'two')], ['absent', 'running'], 'the states')
    expectSame([await count('one'), await count('two'), await count('before')], [0, 0, 1], 'the effects')
  },
  'given transaction: a stale claim touches nothing': async ({ store, effect, count, inside }) => {
    const old = await claimed(store, 'a', LAPSED)
    await store.takeOver(await entryAt(store, 'a'), draft('a'))
    await inside(
      async (tx) => expectSame(await transacted(store, transact(old, effect('a', COMMITTED), tx)), 'lost', 'the end'),
      'commit',
    )
    expectSame([await stateOf(store, 'a'), await count('a')], ['running', 0], 'state and effects')
  },
  'given transaction: a message comes and goes with it': async ({ store, message: work, count, inside }) => {
    const consume = (end: 'commit' | 'rollback'): Promise<void> =>
      inside(async (tx) => {
        const consumed = await store.consume(message('m'), consumption(work('m', '"v"'), tx))
        expectSame(consumed, { duplicate: false, value: '"v"' }, 'the message')
      }, end)
    await consume('rollback')
    expectSame(await count('m'), 0, 'the effects of the first')
    await consume('commit')
    expectSame(await count('m'), 1, 'the effects')
    const again = await store.consume(message('m'), consumption(work('m', null)))
    expectSame(again, { duplicate: true, value: '"v"' }, 'a duplicate')
  },
  'given transaction: a message whose work throws takes back the work alone': async (subject) => {
    const { store, message: work, count, inside, write } = subject
    await inside(async (tx) => {
      await write(tx, 'before')
      const error = await rejection(store.consume(message('m'), consumption(work('m', fails), tx)))
      expectSame(error === broken, true, 'the very same error')
      const next = await store.consume(message('m'), consumption(work('m', null), tx))
      expectSame(next, { duplicate: false, value: null }, 'the next one does it')
    }, 'commit')
    expectSame([await count('m'), await count('before')], [1, 1], 'the effects')
  },
}

/** For stores that can write into a transaction that the caller has begun and ends. */
export function givenTransactionCases(inTransaction: InTransaction): Record<string, LedgerCase> {
  const cases = Object.entries(CASES).map(([name, body]): [string, LedgerCase] => [
    name,
    (subject, { effects }) =>
      body({
        ...subject,
        inside: (work, end) => inTransaction(subject.store, work, end),
        write: (tx, effect) => effects.write(tx, effect),
      }),
  ])
  return Object.fromEntries(cases)
}
