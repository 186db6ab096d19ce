import type { AtomicRun, EntryDraft, LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase, LedgerContractOptions } from './contract-case.ts'
import {
  COMMITTED,
  claimed,
  draft,
  EXPIRED,
  entryAt,
  LAPSED,
  RELEASED,
  ROLLED_BACK,
  recorded,
  rejection,
  stateOf,
} from './sample-entry.ts'

const broken = new Error('the work failed')

function fails(): never {
  throw broken
}

interface Run {
  readonly work: AtomicRun<unknown>['work']
  readonly mayReplace?: AtomicRun<unknown>['mayReplace'] | undefined
  readonly draft?: Partial<EntryDraft> | undefined
}

async function atomic(store: LedgerStore, key: string, run: Run): Promise<string> {
  const { work, mayReplace = () => false } = run
  const { kind } = await store.atomic({ draft: draft(key, run.draft), mayReplace, work, options: {} })
  return kind
}

/** For work that waits: a store that shares its only connection with it could not be asked meanwhile. */
async function secondStore(store: LedgerStore, options: LedgerContractOptions): Promise<LedgerStore | undefined> {
  return options.synchronous ? undefined : options.another?.(store)
}

export const atomicCases: Record<string, LedgerCase> = {
  'atomic: the work and its answer are committed together': async ({ store, effect, count }) => {
    expectSame(await atomic(store, 'a', { work: effect('one', COMMITTED) }), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.attempt, await count('one')], ['done', 1, 1], 'state, attempt and effects')
    expectSame(entry.answer, COMMITTED.answer, 'the answer')
  },
  'atomic: an answer that rolls the work back is recorded': async ({ store, effect, count }) => {
    expectSame(await atomic(store, 'a', { work: effect('one', ROLLED_BACK) }), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.answer?.status, await count('one')], ['done', 422, 0], 'state, status and effects')
  },
  'atomic: without an answer, and after a throw, nothing is there': async ({ store, effect, count }) => {
    expectSame(await atomic(store, 'a', { work: effect('one', RELEASED) }), 'released', 'the end')
    expectSame(await rejection(atomic(store, 'a', { work: effect('one', fails) })), broken, 'the error')
    expectSame([await stateOf(store, 'a'), await count('one')], ['absent', 0], 'state and effects')
    expectSame(await atomic(store, 'a', { work: effect('one', COMMITTED) }), 'recorded', 'the next')
  },
  'atomic: an entry that is there is shown, and the work is not called': async ({ store, effect, count }) => {
    await recorded(store, 'done')
    await claimed(store, 'running')
    for (const key of ['done', 'running']) {
      const before = await entryAt(store, key)
      const found = await store.atomic({
        draft: draft(key),
        mayReplace: ({ entry }) => entry.token !== before.token,
        work: effect('one', COMMITTED),
        options: {},
      })
      expectSame(found.kind === 'found' && found.found.entry, before, 'what was found')
      expectSame(await entryAt(store, key), before, 'the entry afterwards')
    }
    expectSame(await count('one'), 0, 'effects')
  },
  'atomic: an entry that is given up is replaced': async ({ store, effect, count }) => {
    await recorded(store, 'expired', EXPIRED)
    await claimed(store, 'lapsed', LAPSED)
    for (const [key, attempt] of [
      ['expired', 1],
      ['lapsed', 2],
    ] as const) {
      const run = { work: effect(key, COMMITTED), mayReplace: () => true }
      expectSame(await atomic(store, key, run), 'recorded', 'the end')
      const entry = await entryAt(store, key)
      expectSame([entry.state, entry.attempt, await count(key)], ['done', attempt, 1], 'state, attempt and effects')
    }
  },
  'atomic: of twenty at once with one key, the work of one is kept': async ({ store, effect, count }) => {
    const run = { work: effect('one', COMMITTED) }
    const kinds = await Promise.all(Array.from({ length: 20 }, () => atomic(store, 'a', run)))
    expectSame([kinds.filter((kind) => kind === 'recorded').length, await count('one')], [1, 1], 'recorded, effects')
    const others = kinds.filter((kind) => !['recorded', 'found', 'in-flight', 'lost'].includes(kind))
    expectSame(others, [], 'what else came of them')
  },
  'atomic: beside a claim on the same key, one of the two is kept': async ({ store, effect, count }, options) => {
    const other = await secondStore(store, options)
    if (!other) return
    const write = effect('one', COMMITTED)
    const work: Run['work'] = async (tx) => {
      await claimed(other, 'a')
      return write(tx)
    }
    expectSame(await atomic(store, 'a', { work }), 'lost', 'the end')
    expectSame([await stateOf(store, 'a'), await count('one')], ['running', 0], 'state and effects')
    await other.close()
  },
  'atomic: another request under the key of one that runs is told so': async ({ store, effect }, options) => {
    const other = await secondStore(store, options)
    if (!other) return
    const seen: unknown[] = []
    const write = effect('one', COMMITTED)
    const work: Run['work'] = async (tx) => {
      for (const fingerprint of ['fingerprint of a', 'another']) {
        const run = {
          draft: draft('a', { fingerprint }),
          mayReplace: () => false,
          work: () => COMMITTED,
          options: {},
        }
        const outcome = await other.atomic(run)
        seen.push(outcome.kind === 'in-flight' && outcome.request)
      }
      return write(tx)
    }
    expectSame(await atomic(store, 'a', { work }), 'recorded', 'the end')
    expectSame(seen, ['same', 'other'], 'what the others were told')
    await other.close()
  },
}
