import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { claimed, consumption, EXPIRED, entryAt, LAPSED, message, now, recorded, stateOf } from './sample-entry.ts'

const OVER = { ...LAPSED, ...EXPIRED }

export const reapCases: Record<string, LedgerCase> = {
  'reap: answers go when their retention is over, not before': async ({ store }) => {
    await recorded(store, 'old', EXPIRED)
    await recorded(store, 'new', LAPSED)
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 1, abandoned: 0, more: false }, 'the reaping')
    expectSame([await stateOf(store, 'old'), await stateOf(store, 'new')], ['absent', 'done'], 'the states')
    await claimed(store, 'old')
  },
  'reap: a claim with a lease stays, however old': async ({ store }) => {
    await claimed(store, 'inside', EXPIRED)
    await claimed(store, 'outside', { ...EXPIRED, external: true })
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 0, abandoned: 0, more: false }, 'the reaping')
    expectSame([await stateOf(store, 'inside'), await stateOf(store, 'outside')], ['running', 'running'], 'the states')
  },
  'reap: a silent claim stays until its retention is over': async ({ store }) => {
    await claimed(store, 'silent', LAPSED)
    await claimed(store, 'over', OVER)
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 1, abandoned: 0, more: false }, 'the reaping')
    expectSame([await stateOf(store, 'silent'), await stateOf(store, 'over')], ['running', 'absent'], 'the states')
  },
  'reap: a silent claim with effects outside becomes unknown, and stays however old': async ({ store }) => {
    await claimed(store, 'silent', { ...LAPSED, external: true })
    await claimed(store, 'over', { ...OVER, external: true })
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 0, abandoned: 2, more: false }, 'the reaping')
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 0, abandoned: 0, more: false }, 'the next')
    expectSame([await stateOf(store, 'silent'), await stateOf(store, 'over')], ['unknown', 'unknown'], 'the states')
    expectSame((await entryAt(store, 'over')).attempt, 1, 'the attempt')
  },
  'reap: what is unknown stays, also where it was not declared to reach outside': async ({ store }) => {
    await store.abandon(await claimed(store, 'a', OVER), now())
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 0, abandoned: 0, more: false }, 'the reaping')
    expectSame(await stateOf(store, 'a'), 'unknown', 'the state')
  },
  'reap: no more than the limit at once, and says that there is more': async ({ store }) => {
    for (let at = 0; at < 3; at++) await recorded(store, `done ${at}`, EXPIRED)
    for (let at = 0; at < 2; at++) await claimed(store, `silent ${at}`, { ...OVER, external: true })
    for (let at = 0; at < 2; at++)
      await store.consume(
        message(`m${at}`, EXPIRED),
        consumption(() => null),
      )
    const total = { deleted: 0, abandoned: 0 }
    let more = true
    for (let round = 0; more && round < 20; round++) {
      const reaped = await store.reap({ limit: 2, now: now() })
      const touched = reaped.deleted + reaped.abandoned
      expectSame(touched <= 2 && (reaped.more || touched < 2), true, `round ${round}: ${JSON.stringify(reaped)}`)
      total.deleted += reaped.deleted
      total.abandoned += reaped.abandoned
      more = reaped.more
    }
    expectSame([total, more], [{ deleted: 5, abandoned: 2 }, false], 'in all')
  },
  'reap: messages go when their retention is over, not before': async ({ store, message: work, count }) => {
    await store.consume(message('old', EXPIRED), consumption(work('m', null)))
    await store.consume(message('new'), consumption(work('m', null)))
    expectSame(await store.reap({ limit: 10, now: now() }), { deleted: 1, abandoned: 0, more: false }, 'the reaping')
    await store.consume(message('old'), consumption(work('m', null)))
    await store.consume(message('new'), consumption(work('m', null)))
    expectSame(await count('m'), 3, 'the effects')
  },
  'reap: several at the same time share the work': async ({ store }) => {
    for (let at = 0; at < 10; at++) await recorded(store, `k${at}`, EXPIRED)
    const reaped = await Promise.all(Array.from({ length: 4 }, () => store.reap({ limit: 100, now: now() })))
    expectSame(
      reaped.reduce((sum, { deleted }) => sum + deleted, 0),
      10,
      'rows deleted',
    )
  },
  'stats: counts by state, and what the next reap would delete': async ({ store }) => {
    expectSame(await store.stats(now()), { running: 0, done: 0, unknown: 0, expired: 0, messages: 0 }, 'an empty store')
    await claimed(store, 'running')
    await claimed(store, 'over', OVER)
    await claimed(store, 'outside', { ...OVER, external: true })
    await recorded(store, 'done')
    await recorded(store, 'old', EXPIRED)
    await store.abandon(await claimed(store, 'unknown', OVER), now())
    await store.consume(
      message('m'),
      consumption(() => null),
    )
    await store.consume(
      message('old', EXPIRED),
      consumption(() => null),
    )
    const expected = { running: 3, done: 2, unknown: 1, expired: 3, messages: 2 }
    expectSame(await store.stats(now()), expected, 'the statistics')
    expectSame((await store.reap({ limit: 10, now: now() })).deleted, 3, 'what the reaper deletes')
  },
}
