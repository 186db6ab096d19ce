import { OPERATION_STATUSES } from '../../../client/operation/record.ts'
import type { CaseBody } from './contract-case.ts'
import { expectSame, expectThat } from './expect.ts'
import {
  append,
  change,
  claimByKey,
  claimCommand,
  commit,
  fence,
  held,
  keysOf,
  list,
  NOW,
  prune,
  read,
  SPACE,
  setAside,
  settled,
  surveyCommand,
} from './sample-row.ts'

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
  'list: settled rows that await their handler': async ({ run, batch }) => {
    await batch(append('a'), settled('b'), settled('c', { deliveryDue: true }), append('d', { deliveryDue: true }))
    await batch(
      settled('e', { deliveryDue: true, status: 'failed' }),
      held('f', { deliveryDue: true, status: 'failed' }),
    )
    await run(settled('g', { deliveryDue: true, namespace: 'else' }))
    expectSame(keysOf(await run(list({ undelivered: true }))), 'c e f', 'all of them')
    expectSame(keysOf(await run(list({ undelivered: true, limit: 2 }))), 'c e', 'two of them')
    const [first] = await run(list({ undelivered: true, limit: 1 }))
    expectSame(
      keysOf(await run(list({ undelivered: true, after: first?.place ?? 0 }))),
      'e f',
      'those behind the first',
    )
    expectSame(keysOf(await run(list({ undelivered: true, status: 'failed' }))), 'e f', 'by status')
  },
  'survey: every owner of a lease that has not lapsed, once': async ({ run, batch }) => {
    await batch(held('a'), held('b'), held('c', { owner: 'settling', status: 'failed' }))
    await batch(held('d', { owner: 'late', leaseUntil: NOW }), held('e', { owner: 'else', namespace: 'else' }))
    expectSame([...(await run(surveyCommand())).owners].sort(), ['me', 'settling'], 'the owners')
  },
  'survey: undefined where nothing is waiting': async ({ run, batch }) => {
    await batch(settled('a'), append('c', { namespace: 'else' }))
    expectSame((await run(surveyCommand({ deliverNames: '*' }))).nextDueAt, undefined, 'the time')
  },
  'survey: now where something can be claimed': async ({ run, batch }) => {
    await batch(held('a'), append('b'))
    expectSame((await run(surveyCommand())).nextDueAt, 0, 'the time')
  },
  'survey: the latest of due time, server time and lease, the earliest of all rows': async ({ run, batch }) => {
    await batch(held('a', { leaseUntil: NOW + 50, dueAt: NOW + 10 }), append('b', { dueAt: NOW + 60, notBefore: 1 }))
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 50, 'with a lease')
    await run(append('c', { dueAt: NOW + 10, notBefore: NOW + 40 }))
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 40, 'with a server time')
    await run(append('d', { dueAt: NOW + 30 }))
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 30, 'with a due time')
  },
  'survey: leaves out the pending rows of excepted origins, but not their settlements': async ({ run, batch }) => {
    const origin = 'https://closed.example'
    await batch(append('a', { origin }), append('b', { dueAt: NOW + 7 }))
    expectSame((await run(surveyCommand({ exceptOrigins: [origin] }))).nextDueAt, NOW + 7, 'the time')
    await run(settled('c', { origin, deliveryDue: true, name: 'x', dueAt: NOW + 3 }))
    expectSame(
      (await run(surveyCommand({ deliverNames: ['x'], exceptOrigins: [origin] }))).nextDueAt,
      NOW + 3,
      'with a settlement',
    )
  },
  'survey: leaves out the pending rows of origins that are not named, but not their settlements': async ({
    run,
    batch,
  }) => {
    const origin = 'https://other.example'
    await batch(append('a'), append('b', { origin, dueAt: NOW + 7 }))
    expectSame((await run(surveyCommand({ origins: [] }))).nextDueAt, undefined, 'without origins')
    expectSame((await run(surveyCommand({ origins: [origin] }))).nextDueAt, NOW + 7, 'the time')
    await run(settled('c', { deliveryDue: true, name: 'x', dueAt: NOW + 3 }))
    const filter = { origins: [origin], deliverNames: ['x'] }
    expectSame((await run(surveyCommand(filter))).nextDueAt, NOW + 3, 'with a settlement')
  },
  'survey: counts settlements for the names it can deliver': async ({ run }) => {
    await run(settled('a', { deliveryDue: true, name: 'x', dueAt: NOW + 5, notBefore: NOW + 99 }))
    expectSame((await run(surveyCommand())).nextDueAt, undefined, 'without names')
    expectSame((await run(surveyCommand({ deliverNames: ['x'] }))).nextDueAt, NOW + 5, 'by name')
    expectSame((await run(surveyCommand({ deliverNames: '*' }))).nextDueAt, NOW + 5, 'by star')
  },
  'drop: deletes everything in the namespace and counts it': async ({ run, batch }) => {
    await batch(append('a'), settled('b'), held('c', { id: 'one' }), append('d', { namespace: 'else' }))
    expectSame(await run({ do: 'drop', namespace: SPACE }), 3, 'the count')
    expectSame(await run(list()), [], 'the rows')
    expectSame(keysOf(await run(list({ namespace: 'else' }))), 'd', 'the other namespace')
    expectSame(await run(append('a', { id: 'one' })), { appended: true }, 'the same id again')
    expectSame(await run({ do: 'drop', namespace: 'unknown' }), 0, 'an unknown namespace')
  },
  'drop: deletes what has expired, in any namespace, no more than the limit': async ({ run, batch }) => {
    await batch(settled('a', { expiresAt: NOW }), settled('b', { expiresAt: NOW + 1 }), settled('c'))
    await batch(settled('d', { expiresAt: NOW - 5, namespace: 'else' }), append('e'))
    expectSame(await run(prune(NOW, 1)), 1, 'the first count')
    expectSame(await run(prune(NOW, 10)), 1, 'the second count')
    expectSame(await run(prune(NOW, 10)), 0, 'the third count')
    expectSame(keysOf(await run(list())), 'b c e', 'the rows')
    expectSame(await run(list({ namespace: 'else' })), [], 'the other namespace')
  },
  'write: drops the body of the request with a success and a rejection, and with nothing else': async ({
    run,
    batch,
  }) => {
    const sizes = { small: 10, large: 100_000 }
    for (const [size, length] of Object.entries(sizes)) {
      for (const status of OPERATION_STATUSES) {
        const key = `${size} ${status}`
        const body = new Uint8Array(length).fill(7)
        await batch(held(key, { body }), { do: 'write', ...fence(key), change: change({ status }) })
        const isDropped = status === 'succeeded' || status === 'rejected'
        expectSame((await run(read(key)))?.body ?? null, isDropped ? null : body, `the body of ${key}`)
      }
    }
    expectSame((await run(read('small succeeded')))?.responseBody, new Uint8Array([1, 2, 3]), 'the answer')
  },
  'drop: follows a commit that changes when a row expires': async ({ run }) => {
    await run(held('a', { expiresAt: NOW }))
    await run(commit('a'))
    expectSame(await run(prune(NOW, 10)), 0, 'before')
    expectSame(await run(prune(NOW + 1000, 10)), 1, 'after')
  },
  'set aside: no claim and no survey shows the row any more': async ({ run, batch }) => {
    await batch(held('a'), held('b'))
    expectSame([await run(setAside('a')), await run(setAside('b'))], [true, true], 'the answers')
    expectSame(await run(claimCommand({ now: NOW + 99_999, dueBy: NOW + 99_999 })), [], 'the claim')
    expectSame(await run(claimByKey('a')), [], 'the claim by key')
    expectSame(await run(surveyCommand({ deliverNames: '*' })), { owners: [], nextDueAt: undefined }, 'the survey')
    expectSame(await run(commit('b')), false, 'a commit by the former holder')
  },
  'set aside: the row stays, keeps its key and id, and does not expire': async ({ run }) => {
    await run(held('a', { id: 'one', head: 'not JSON', expiresAt: NOW - 1 }))
    await run(setAside('a'))
    expectSame(await run(prune(NOW, 10)), 0, 'the drop')
    expectSame((await run(read('one')))?.head, 'not JSON', 'the row')
    expectSame(keysOf(await run(list({ status: 'pending' }))), 'a', 'the list')
    const again = await run(append('b', { id: 'one' }))
    expectThat(!again.appended, 'the id of a row that is set aside is not free')
  },
}
