import type { NextDue, Owners } from '../../../client/journal/port.ts'
import type { CaseBody } from './contract-case.ts'
import { expectSame, expectThat } from './expect.ts'
import { append, claim, claimOne, commit, held, keysOf, list, NOW, read, SPACE, settled } from './sample-row.ts'

const OWNERS: Owners = { do: 'owners', namespace: SPACE, now: NOW }

function nextDue(deliverNames: NextDue['deliverNames'] = [], exceptOrigins: readonly string[] = []): NextDue {
  return { do: 'next-due', namespace: SPACE, deliverNames, exceptOrigins }
}

export const keepingCases: Record<string, CaseBody> = {
  'list: pages in the order of acceptance': async ({ run, batch }) => {
    await batch(append('a'), settled('b'), append('c'), append('other', { namespace: 'else' }))
    const first = await run(list({ limit: 2 }))
    expectSame(keysOf(first), 'a b', 'the first page')
    expectSame(keysOf(await run(list({ after: first[1]?.place ?? 0 }))), 'c', 'the second page')
    expectSame(await run(list({ limit: 0 })), [], 'a limit of none')
  },
  'list: by status': async ({ run, batch }) => {
    await batch(append('a'), settled('b'), append('c'), held('d'))
    expectSame(keysOf(await run(list({ status: 'pending' }))), 'a c d', 'pending')
    expectSame(keysOf(await run(list({ status: 'pending', limit: 1 }))), 'a', 'one pending')
    expectSame(keysOf(await run(list({ status: 'succeeded' }))), 'b', 'succeeded')
    expectSame(await run(list({ status: 'expired' })), [], 'expired')
  },
  'owners: everyone who holds a lease that has not lapsed, once': async ({ run, batch }) => {
    await batch(held('a'), held('b'), held('c', { owner: 'settling', status: 'failed' }))
    await batch(held('d', { owner: 'late', leaseUntil: NOW }), held('e', { owner: 'else', namespace: 'else' }))
    expectSame([...(await run(OWNERS))].sort(), ['me', 'settling'], 'the owners')
  },
  'next-due: undefined where nothing is waiting': async ({ run, batch }) => {
    await batch(settled('a'), append('c', { namespace: 'else' }))
    expectSame(await run(nextDue('*')), undefined, 'the time')
  },
  'next-due: now where something can be claimed': async ({ run, batch }) => {
    await batch(held('a'), append('b'))
    expectSame(await run(nextDue()), 0, 'the time')
  },
  'next-due: the latest of due time, server time and lease, the earliest of all rows': async ({ run, batch }) => {
    await batch(held('a', { leaseUntil: NOW + 50, dueAt: NOW + 10 }), append('b', { dueAt: NOW + 60, notBefore: 1 }))
    expectSame(await run(nextDue()), NOW + 50, 'with a lease')
    await run(append('c', { dueAt: NOW + 10, notBefore: NOW + 40 }))
    expectSame(await run(nextDue()), NOW + 40, 'with a server time')
    await run(append('d', { dueAt: NOW + 30 }))
    expectSame(await run(nextDue()), NOW + 30, 'with a due time')
  },
  'next-due: leaves out the pending rows of excepted origins, but not their settlements': async ({ run, batch }) => {
    const origin = 'https://closed.example'
    await batch(append('a', { origin }), append('b', { dueAt: NOW + 7 }))
    expectSame(await run(nextDue([], [origin])), NOW + 7, 'the time')
    await run(settled('c', { origin, deliveryDue: true, name: 'x', dueAt: NOW + 3 }))
    expectSame(await run(nextDue(['x'], [origin])), NOW + 3, 'with a settlement')
  },
  'next-due: counts settlements for the names it can deliver': async ({ run }) => {
    await run(settled('a', { deliveryDue: true, name: 'x', dueAt: NOW + 5, notBefore: NOW + 99 }))
    expectSame(await run(nextDue()), undefined, 'without names')
    expectSame(await run(nextDue(['x'])), NOW + 5, 'by name')
    expectSame(await run(nextDue('*')), NOW + 5, 'by star')
  },
  'forget: drops everything in the namespace and counts it': async ({ run, batch }) => {
    await batch(append('a'), settled('b'), held('c', { id: 'one' }), append('d', { namespace: 'else' }))
    expectSame(await run({ do: 'forget', namespace: SPACE }), 3, 'the count')
    expectSame(await run(list()), [], 'the rows')
    expectSame(keysOf(await run(list({ namespace: 'else' }))), 'd', 'the other namespace')
    expectSame(await run(append('a', { id: 'one' })), { appended: true }, 'the same id again')
    expectSame(await run({ do: 'forget', namespace: 'unknown' }), 0, 'an unknown namespace')
  },
  'prune: drops what has expired, in any namespace, no more than the limit': async ({ run, batch }) => {
    await batch(settled('a', { expiresAt: NOW }), settled('b', { expiresAt: NOW + 1 }), settled('c'))
    await batch(settled('d', { expiresAt: NOW - 5, namespace: 'else' }), append('e'))
    expectSame(await run({ do: 'prune', now: NOW, limit: 1 }), 1, 'the first count')
    expectSame(await run({ do: 'prune', now: NOW, limit: 10 }), 1, 'the second count')
    expectSame(await run({ do: 'prune', now: NOW, limit: 10 }), 0, 'the third count')
    expectSame(keysOf(await run(list())), 'b c e', 'the rows')
    expectSame(await run(list({ namespace: 'else' })), [], 'the other namespace')
  },
  'prune: follows a commit that changes when a row expires': async ({ run }) => {
    await run(held('a', { expiresAt: NOW }))
    await run(commit('a'))
    expectSame(await run({ do: 'prune', now: NOW, limit: 10 }), 0, 'before')
    expectSame(await run({ do: 'prune', now: NOW + 1000, limit: 10 }), 1, 'after')
  },
  'set-aside: no claim, no due time and no owner shows the row any more': async ({ run, batch }) => {
    await batch(append('a'), held('b'))
    const aside = (key: string) => run({ do: 'set-aside', namespace: SPACE, key })
    expectSame([await aside('a'), await aside('b'), await aside('unknown')], [true, true, false], 'the answers')
    expectSame(await run(claim({ now: NOW + 99_999, dueBy: NOW + 99_999 })), [], 'the claim')
    expectSame(await run(claimOne('a')), undefined, 'the claim by key')
    expectSame(await run(nextDue('*')), undefined, 'the due time')
    expectSame(await run(OWNERS), [], 'the owners')
    expectSame(await run(commit('b')), false, 'a commit by the holder')
  },
  'set-aside: the row stays, keeps its key and id, and is not pruned': async ({ run }) => {
    await run(append('a', { id: 'one', head: 'not JSON', expiresAt: NOW - 1 }))
    await run({ do: 'set-aside', namespace: SPACE, key: 'a' })
    expectSame(await run({ do: 'prune', now: NOW, limit: 10 }), 0, 'the prune')
    expectSame((await run(read('one')))?.head, 'not JSON', 'the row')
    expectSame(keysOf(await run(list({ status: 'pending' }))), 'a', 'the list')
    const again = await run(append('b', { id: 'one' }))
    expectThat(!again.appended, 'the id of a row that is set aside is not free')
  },
}
