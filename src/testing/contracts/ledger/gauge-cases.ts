import { expectSame, expectThat } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { claimed, consumption, EXPIRED, entryAt, LAPSED, message, now, recorded } from './sample-entry.ts'

export const gaugeCases: Record<string, LedgerCase> = {
  'gauges: an empty store has nothing to tell': async ({ store }) => {
    const { at, entries = 0, ...rest } = await store.gauges(now())
    expectThat(Math.abs(at - now()) < 60_000, `it was read at ${at}, which is not now`)
    expectSame(entries, 0, 'the entries')
    expectSame(rest, { unknown: 0, oldestUnknownAt: undefined, oldestExpiresAt: undefined }, 'the gauges')
  },
  'gauges: what is unknown is counted, with the age of the oldest': async ({ store }) => {
    await claimed(store, 'running', { external: true })
    for (const key of ['first', 'second']) await store.abandon(await claimed(store, key), now())
    const { unknown, oldestUnknownAt } = await store.gauges(now())
    expectSame(unknown, 2, 'how many are unknown')
    expectSame(oldestUnknownAt, (await entryAt(store, 'first')).unknownSince, 'since when the oldest is')
  },
  'gauges: the first end of a retention is told, also where it is over': async ({ store }) => {
    await recorded(store, 'new')
    await recorded(store, 'old', EXPIRED)
    const { oldestExpiresAt } = await store.gauges(now())
    expectSame(oldestExpiresAt, (await entryAt(store, 'old')).expiresAt, 'the oldest')
    await store.reap({ limit: 10, now: now() })
    const after = await store.gauges(now())
    expectSame(after.oldestExpiresAt, (await entryAt(store, 'new')).expiresAt, 'the oldest after the reaper')
  },
  'gauges: what the reaper never deletes does not look like its lag': async ({ store }) => {
    await store.abandon(await claimed(store, 'unknown', { ...LAPSED, ...EXPIRED }), now())
    await claimed(store, 'running', { ...EXPIRED, external: true })
    expectSame((await store.gauges(now())).oldestExpiresAt, undefined, 'the oldest')
  },
  'gauges: a message past its retention is told too': async ({ store }) => {
    await recorded(store, 'new')
    await store.consume(
      message('old', EXPIRED),
      consumption(() => null),
    )
    const { at, oldestExpiresAt = at } = await store.gauges(now())
    expectThat(oldestExpiresAt < at, `the oldest ends at ${oldestExpiresAt}, and it is ${at}`)
  },
  'gauges: the number of entries is at least about right': async ({ store }) => {
    for (let at = 0; at < 3; at++) await claimed(store, `k${at}`)
    const { entries = 3 } = await store.gauges(now())
    expectThat(entries >= 0 && entries <= 3, `there are 3, and it says ${entries}`)
  },
  'abandon: an entry that was unknown before keeps its age': async ({ store }) => {
    const since = now() - 3_600_000
    await store.abandon(await claimed(store, 'a', { external: true }), now(), since)
    expectSame((await entryAt(store, 'a')).unknownSince, since, 'since when it is unknown')
    expectSame((await store.gauges(now())).oldestUnknownAt, since, 'the age of the oldest')
  },
}
