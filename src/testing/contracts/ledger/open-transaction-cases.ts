import type { Outcome } from '../../../server/entry/outcome.ts'
import type {} from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase, LedgerSubject } from './contract-case.ts'
import {
  COMMITTED,
  claimed,
  consumption,
  draft,
  entryAt,
  LAPSED,
  lease,
  message,
  met,
  now,
  rejection,
  stateOf,
  transact,
  transacted,
} from './sample-entry.ts'

interface OpenTransaction {
  /** Lets the work come to its end. */
  end(): Promise<Outcome['kind']>
}

/** A transaction that has written its effect, and stays open until it is ended. */
async function open({ store, effect }: LedgerSubject, key: string, more = {}): Promise<OpenTransaction> {
  const claim = await claimed(store, key, more)
  let goOn = (): void => {}
  const waits = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let ended: Promise<Outcome['kind']> | undefined
  await new Promise<void>((written, failed) => {
    ended = transacted(
      store,
      transact(claim, async (tx) => {
        const verdict = await effect(key, COMMITTED)(tx)
        written()
        await waits
        return verdict
      }),
    )
    ended.catch(failed)
  })
  return {
    end: () => {
      goOn()
      return ended as Promise<Outcome['kind']>
    },
  }
}

/** For stores where others can look while a transaction is open. */
export const openTransactionCases: Record<string, LedgerCase> = {
  'open transaction: a duplicate sees that its runner lives, whatever the lease says': async (subject) => {
    const { store, count } = subject
    const transaction = await open(subject, 'a', LAPSED)
    const { owner, entry } = await met(store, 'a')
    expectSame([owner, entry.state, entry.inEffect], ['alive', 'running', true], 'what is found')
    expectSame(await transaction.end(), 'recorded', 'the end')
    expectSame([await stateOf(store, 'a'), await count('a')], ['done', 1], 'state and effects')
  },
  'open transaction: a claim that is held is not taken over': async (subject) => {
    const { store, count } = subject
    const transaction = await open(subject, 'a', LAPSED)
    expectSame(await store.takeOver((await met(store, 'a')).entry, draft('a')), undefined, 'the claim')
    expectSame([await transaction.end(), await count('a')], ['recorded', 1], 'end and effects')
  },
  'open transaction: its own claim is renewed without waiting for it': async (subject) => {
    const transaction = await open(subject, 'a')
    const claim = await entryAt(subject.store, 'a')
    expectSame(await subject.store.renew(claim, lease(60_000)), true, 'the renewal')
    expectSame(await transaction.end(), 'recorded', 'the end')
  },
  'open transaction: the reaper leaves it alone': async (subject) => {
    const { store } = subject
    const inside = await open(subject, 'inside', { leaseMs: -2_000, retentionMs: -1_000 })
    const outside = await open(subject, 'outside', { leaseMs: -2_000, retentionMs: -1_000, external: true })
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 0, abandoned: 0, more: false }, 'the reaping')
    expectSame([await inside.end(), await outside.end()], ['recorded', 'recorded'], 'the ends')
  },
  'open transaction: other keys do not wait for it': async (subject) => {
    const { store, effect, count } = subject
    const transaction = await open(subject, 'a')
    const claim = await claimed(store, 'b')
    expectSame(await transacted(store, transact(claim, effect('b', COMMITTED))), 'recorded', 'the other one')
    expectSame(await count('b'), 1, 'the effects')
    expectSame(await transaction.end(), 'recorded', 'the end')
  },
  'open transaction: a second one under the same claim does nothing': async (subject) => {
    const { store, effect, count } = subject
    const transaction = await open(subject, 'a')
    const { scope, key, token, attempt } = await entryAt(store, 'a')
    const second = transacted(store, transact({ scope, key, token, attempt }, effect('a', COMMITTED)))
    expectSame([await transaction.end(), await second], ['recorded', 'lost'], 'the ends')
    expectSame(await count('a'), 1, 'the effects')
  },
  'open transaction: a rejection of the work rolls back and keeps the claim, with the very same error': async (
    subject,
  ) => {
    const { store, effect, count } = subject
    const broken = new Error('late')
    const work = async (tx: unknown): Promise<never> => {
      await effect('a', COMMITTED)(tx)
      throw broken
    }
    const error = await rejection(transacted(store, transact(await claimed(store, 'a'), work)))
    expectSame([error === broken, await stateOf(store, 'a'), await count('a')], [true, 'running', 0], 'what is left')
  },
  'open transaction: a duplicate of a message waits for the first, and does it where that fails': async (subject) => {
    const { store, message: work, count } = subject
    let goOn = (): void => {}
    const waits = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let first: Promise<unknown> | undefined
    await new Promise<void>((written) => {
      const slow = async (tx: unknown): Promise<never> => {
        await work('m', 'lost')(tx)
        written()
        await waits
        throw new Error('rolled back')
      }
      first = rejection(store.consume(message('m'), consumption(slow)))
    })
    const second = store.consume(message('m'), consumption(work('m', 'done')))
    goOn()
    expectSame((await first) instanceof Error, true, 'the first one fails')
    expectSame(await second, { duplicate: false, value: 'done' }, 'the second one does it')
    expectSame(await count('m'), 1, 'the effects')
  },
}

/** For stores that do not wait. */
export const synchronousCases: Record<string, LedgerCase> = {
  'promise: work that returns one is refused, rolled back, and its claim kept': async ({ store, effect, count }) => {
    const work = async (tx: unknown): Promise<typeof COMMITTED> => {
      await effect('a', COMMITTED)(tx)
      return COMMITTED
    }
    const error = await rejection(transacted(store, transact(await claimed(store, 'a'), work)))
    expectSame((error as { code?: unknown }).code, 'HOLDFAST_CONFIGURATION', 'the code of the rejection')
    expectSame([await stateOf(store, 'a'), await count('a')], ['running', 0], 'state and effects')
  },
  'promise: a message whose work returns one is refused and rolled back': async ({ store, message: work, count }) => {
    const late = async (tx: unknown): Promise<string | null> => work('m', 'value')(tx)
    const error = await rejection(store.consume(message('m'), consumption(late)))
    expectSame((error as { code?: unknown }).code, 'HOLDFAST_CONFIGURATION', 'the code of the rejection')
    expectSame(await count('m'), 0, 'the effects')
    expectSame(
      await store.consume(
        message('m'),
        consumption(() => null),
      ),
      { duplicate: false, value: null },
      'the next',
    )
  },
}
