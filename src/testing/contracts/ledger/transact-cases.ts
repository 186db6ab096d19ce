import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { claimed, entryAt, FREE, KEEP, LAPSED, rejection, stateOf, transact, UNDO } from './sample-entry.ts'

const broken = new Error('the work failed')

function fails(): never {
  throw broken
}

export const transactCases: Record<string, LedgerCase> = {
  'transact: keep commits the work and the answer together': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await store.transact(transact(claim, effect('one', KEEP))), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.attempt, await count('one')], ['done', 1, 1], 'state, attempt and effects')
    expectSame(entry.answer, KEEP.answer, 'the answer')
    expectSame(typeof entry.completedAt, 'number', 'the time of completion')
  },
  'transact: undo rolls the work back and records the answer': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await store.transact(transact(claim, effect('one', UNDO))), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.answer?.status, await count('one')], ['done', 422, 0], 'state, status and effects')
  },
  'transact: free rolls everything back, and the key is as good as new': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await store.transact(transact(claim, effect('one', FREE))), 'freed', 'the end')
    expectSame([await stateOf(store, 'a'), await count('one')], ['absent', 0], 'state and effects')
    expectSame((await claimed(store, 'a')).attempt, 1, 'the next attempt')
  },
  'transact: what the work throws comes out as it is, and the key is as good as new': async (subject) => {
    const { store, effect, count } = subject
    const claim = await claimed(store, 'a')
    const error = await rejection(store.transact(transact(claim, effect('one', fails))))
    expectSame(error === broken, true, 'the very same error')
    expectSame([await stateOf(store, 'a'), await count('one')], ['absent', 0], 'state and effects')
    expectSame((await claimed(store, 'a')).attempt, 1, 'the next attempt')
  },
  'transact: work that throws before it has written anything frees the key too': async ({ store }) => {
    const error = await rejection(store.transact(transact(await claimed(store, 'a'), fails)))
    expectSame([error === broken, await stateOf(store, 'a')], [true, 'absent'], 'error and state')
  },
  'transact: the key of external work that threw is not free, but unknown': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a', { external: true })
    const error = await rejection(store.transact({ ...transact(claim, effect('one', fails)), whenUndone: 'abandon' }))
    expectSame(error === broken, true, 'the very same error')
    expectSame([await stateOf(store, 'a'), await count('one')], ['unknown', 0], 'state and effects')
    const other = await claimed(store, 'b', { external: true })
    const freed = await store.transact({ ...transact(other, effect('two', FREE)), whenUndone: 'abandon' })
    expectSame([freed, await stateOf(store, 'b'), await count('two')], ['freed', 'absent', 0], 'one that is freed')
  },
  'transact: one claim is good for one transaction': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    const ends = await Promise.all(['one', 'two'].map((name) => store.transact(transact(claim, effect(name, KEEP)))))
    expectSame([...ends].sort(), ['fenced', 'recorded'], 'the ends')
    expectSame((await count('one')) + (await count('two')), 1, 'the effects')
    expectSame(await store.transact(transact(claim, effect('three', KEEP))), 'fenced', 'another one, later')
    expectSame(await count('three'), 0, 'its effects')
  },
  'transact: a lapsed lease that nobody took is still ours': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a', LAPSED)
    expectSame(await store.transact(transact(claim, effect('one', KEEP))), 'recorded', 'the end')
    expectSame(await count('one'), 1, 'the effects')
  },
  'transact: several keys at the same time, each with its own end': async ({ store, effect, count }) => {
    const verdicts = [KEEP, UNDO, FREE, fails, KEEP]
    const work = verdicts.map(async (verdict, at) => {
      const claim = await claimed(store, `k${at}`)
      return store.transact(transact(claim, effect(`e${at}`, verdict))).catch(() => 'threw')
    })
    expectSame(await Promise.all(work), ['recorded', 'recorded', 'freed', 'threw', 'recorded'], 'the ends')
    const effects = await Promise.all(verdicts.map((_, at) => count(`e${at}`)))
    expectSame(effects, [1, 0, 0, 0, 1], 'the effects')
  },
  'transact: without a claim only the work counts': async ({ store, effect, count }) => {
    const ends = {
      kept: await store.transact(transact(null, effect('kept', KEEP))),
      undone: await store.transact(transact(null, effect('undone', UNDO))),
      freed: await store.transact(transact(null, effect('freed', FREE))),
    }
    expectSame(ends, { kept: 'recorded', undone: 'recorded', freed: 'freed' }, 'the ends')
    expectSame([await count('kept'), await count('undone'), await count('freed')], [1, 0, 0], 'the effects')
    const error = await rejection(store.transact(transact(null, effect('threw', fails))))
    expectSame([error === broken, await count('threw')], [true, 0], 'the error, and its effects')
    expectSame((await store.stats(0)).done, 0, 'the entries')
  },
}
