import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import {
  COMMITTED,
  claimed,
  entryAt,
  LAPSED,
  met,
  now,
  RELEASED,
  ROLLED_BACK,
  rejection,
  stateOf,
  transact,
  transacted,
} from './sample-entry.ts'

const broken = new Error('the work failed')

function fails(): never {
  throw broken
}

export const transactCases: Record<string, LedgerCase> = {
  'transact: keep commits the work and the answer together': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await transacted(store, transact(claim, effect('one', COMMITTED))), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.attempt, await count('one')], ['done', 1, 1], 'state, attempt and effects')
    expectSame(entry.answer, COMMITTED.answer, 'the answer')
    expectSame(typeof entry.completedAt, 'number', 'the time of completion')
  },
  'transact: undo rolls the work back and records the answer': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await transacted(store, transact(claim, effect('one', ROLLED_BACK))), 'recorded', 'the end')
    const entry = await entryAt(store, 'a')
    expectSame([entry.state, entry.answer?.status, await count('one')], ['done', 422, 0], 'state, status and effects')
  },
  'transact: free rolls everything back, and the key is as good as new': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    expectSame(await transacted(store, transact(claim, effect('one', RELEASED))), 'released', 'the end')
    expectSame([await stateOf(store, 'a'), await count('one')], ['absent', 0], 'state and effects')
    expectSame((await claimed(store, 'a')).attempt, 1, 'the next attempt')
  },
  'transact: what the work throws comes out as it is, and the claim is kept': async (subject) => {
    const { store, effect, count } = subject
    for (const external of [false, true]) {
      const key = external ? 'outside' : 'inside'
      const claim = await claimed(store, key, { external })
      const error = await rejection(transacted(store, transact(claim, effect(key, fails))))
      expectSame(error === broken, true, 'the very same error')
      expectSame([await stateOf(store, key), await count(key)], ['running', 0], 'state and effects')
      const { owner, entry } = await met(store, key)
      expectSame([owner === 'gone', entry.leaseUntil > now()], [false, true], 'gone, and still leased')
      expectSame(await store.complete(claim, COMMITTED.answer, now()), true, 'its answer, recorded afterwards')
      expectSame(await stateOf(store, key), 'done', 'the state after that')
    }
  },
  'transact: a claim that was kept can be ended without an answer': async ({ store, effect, count }) => {
    const ends = { released: 'absent', abandoned: 'unknown' } as const
    for (const [how, state] of Object.entries(ends)) {
      const claim = await claimed(store, how, { external: true })
      await rejection(transacted(store, transact(claim, effect(how, fails))))
      expectSame(await (how === 'released' ? store.release(claim) : store.abandon(claim, now())), true, how)
      expectSame([await stateOf(store, how), await count(how)], [state, 0], 'state and effects')
    }
  },
  'transact: work that throws before it has written anything keeps its claim too': async ({ store }) => {
    const error = await rejection(transacted(store, transact(await claimed(store, 'a'), fails)))
    expectSame([error === broken, await stateOf(store, 'a')], [true, 'running'], 'error and state')
  },
  'transact: one claim is good for one transaction': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a')
    const ends = await Promise.all(
      ['one', 'two'].map((name) => transacted(store, transact(claim, effect(name, COMMITTED)))),
    )
    expectSame([...ends].sort(), ['lost', 'recorded'], 'the ends')
    expectSame((await count('one')) + (await count('two')), 1, 'the effects')
    expectSame(await transacted(store, transact(claim, effect('three', COMMITTED))), 'lost', 'another one, later')
    expectSame(await count('three'), 0, 'its effects')
  },
  'transact: a lapsed lease that was not taken over is still ours': async ({ store, effect, count }) => {
    const claim = await claimed(store, 'a', LAPSED)
    expectSame(await transacted(store, transact(claim, effect('one', COMMITTED))), 'recorded', 'the end')
    expectSame(await count('one'), 1, 'the effects')
  },
  'transact: several keys at the same time, each with its own end': async ({ store, effect, count }) => {
    const verdicts = [COMMITTED, ROLLED_BACK, RELEASED, fails, COMMITTED]
    const work = verdicts.map(async (verdict, at) => {
      const claim = await claimed(store, `k${at}`)
      return transacted(store, transact(claim, effect(`e${at}`, verdict))).catch(() => 'threw')
    })
    expectSame(await Promise.all(work), ['recorded', 'recorded', 'released', 'threw', 'recorded'], 'the ends')
    const effects = await Promise.all(verdicts.map((_, at) => count(`e${at}`)))
    expectSame(effects, [1, 0, 0, 0, 1], 'the effects')
  },
  'transact: without a claim only the work counts': async ({ store, effect, count }) => {
    const ends = {
      kept: await transacted(store, transact(null, effect('kept', COMMITTED))),
      undone: await transacted(store, transact(null, effect('undone', ROLLED_BACK))),
      freed: await transacted(store, transact(null, effect('released', RELEASED))),
    }
    expectSame(ends, { kept: 'recorded', undone: 'recorded', freed: 'released' }, 'the ends')
    expectSame([await count('kept'), await count('undone'), await count('released')], [1, 0, 0], 'the effects')
    const error = await rejection(transacted(store, transact(null, effect('threw', fails))))
    expectSame([error === broken, await count('threw')], [true, 0], 'the error, and its effects')
    expectSame((await store.stats(0)).done, 0, 'the entries')
  },
}
