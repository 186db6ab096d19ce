import { RECORD_VERSION } from '../../../client/journal/port.ts'
import type { CaseBody } from './contract-case.ts'
import { expectSame } from './expect.ts'
import {
  append,
  claimByKey,
  claimCommand,
  commit,
  held,
  keysOf,
  NOW,
  read,
  settled,
  surveyCommand,
} from './sample-row.ts'

export const claimCases: Record<string, CaseBody> = {
  'claim: takes the lease, and the epoch grows by one': async ({ run }) => {
    await run(append('a', { epoch: 4 }))
    const before = await run(read('a'))
    const [taken] = await run(claimCommand())
    const after = { ...before, owner: 'you', leaseUntil: NOW + 30_000, epoch: 5 }
    expectSame(taken, { ...after, previousOwner: null }, 'the claimed row')
    expectSame(await run(read('a')), after, 'the row')
    expectSame(await run(commit('a', { owner: 'you', epoch: 5 })), true, 'a commit with the new epoch')
  },
  'claim: in the order of acceptance, no more than the limit, behind the cursor': async ({ run, batch }) => {
    await batch(append('a'), append('b'), append('c'), append('d'))
    const first = await run(claimCommand({ limit: 2 }))
    expectSame(keysOf(first), 'a b', 'the first page')
    const second = await run(claimCommand({ limit: 5, after: first[1]?.place ?? 0 }))
    expectSame(keysOf(second), 'c d', 'the second page')
    expectSame(await run(claimCommand()), [], 'what is left')
    expectSame(await run(claimCommand({ limit: 0, now: NOW + 60_000 })), [], 'a limit of none')
  },
  'claim: the cursor skips what stands before it, although it is free': async ({ run, batch }) => {
    await batch(append('a'), append('b'))
    const place = (await run(read('a')))?.place ?? 0
    expectSame(keysOf(await run(claimCommand({ after: place }))), 'b', 'the rows')
  },
  'claim: leaves rows that are not due by the given time': async ({ run, batch }) => {
    await batch(append('due', { dueAt: NOW }), append('later', { dueAt: NOW + 1 }))
    expectSame(keysOf(await run(claimCommand())), 'due', 'now')
    expectSame(keysOf(await run(claimCommand({ dueBy: NOW + 1 }))), 'later', 'with a later bound')
  },
  'claim: never before the time that the server asked for, whatever is due': async ({ run, batch }) => {
    await batch(append('asked', { notBefore: NOW + 1 }), append('over', { notBefore: NOW }))
    expectSame(keysOf(await run(claimCommand({ dueBy: NOW + 99_999 }))), 'over', 'the rows')
    expectSame(keysOf(await run(claimCommand({ now: NOW + 1 }))), 'asked', 'when the time has come')
  },
  'claim: leaves the rows of a live owner': async ({ run }) => {
    await run(held('a', { leaseUntil: NOW + 1 }))
    expectSame(await run(claimCommand()), [], 'the rows')
  },
  'claim: takes rows whose lease has lapsed and names the previous owner': async ({ run }) => {
    await run(held('a', { leaseUntil: NOW }))
    expectSame((await run(claimCommand()))[0]?.previousOwner, 'me', 'the previous owner')
  },
  'claim: takes rows of owners known to be dead and names the previous owner': async ({ run, batch }) => {
    await batch(held('a'), held('b', { owner: 'alive' }))
    const taken = await run(claimCommand({ deadOwners: ['gone', 'me'] }))
    expectSame(keysOf(taken), 'a', 'the rows')
    expectSame([taken[0]?.previousOwner, taken[0]?.epoch], ['me', 2], 'previous owner and epoch')
  },
  'claim: leaves the newer lease of an owner that was taken for dead before it came back': async ({ run, batch }) => {
    const until = NOW + 30_000
    await batch(held('before', { leaseUntil: until }), held('after', { leaseUntil: until + 170 }))
    await batch(held('by a clock that was set back', { leaseUntil: until + 3_600_000 }))
    const dead = { deadOwners: ['me'], leaseUntil: until }
    expectSame(keysOf(await run(claimCommand(dead))), 'before by a clock that was set back', 'the rows')
    expectSame(await run(claimByKey('after', dead)), [], 'by its key')
  },
  'claim: may put on record that what it takes is sent at once': async ({ run, batch }) => {
    await batch(append('asked'), append('plain'))
    const [taken] = await run(claimCommand({ limit: 1, starts: true }))
    const head = taken?.head ?? ''
    const isStarted = head !== '{"method":"POST"}'
    if (isStarted) expectSame(JSON.parse(head), { method: 'POST', inFlightSince: NOW }, 'the head')
    expectSame((await run(read('asked')))?.head, head, 'the head that is kept')
    expectSame((await run(claimCommand()))[0]?.head, '{"method":"POST"}', 'the head of one that was not to start')
  },
  'claim: puts no attempt on what was held, is settled, has one, may be unreadable, or ignores keys': async (place) => {
    const { run, batch } = place
    const heads = ['{"inFlightSince":5,"effect":"none"}', '{"honoursKeys":false,"effect":"none"}', 'not JSON']
    await batch(held('held', { leaseUntil: NOW }), settled('settled', { deliveryDue: true }))
    await batch(...heads.map((head, at) => append(`head ${at}`, { head })))
    const rows = await run(claimCommand({ starts: true, deliverNames: '*' }))
    const plain = '{"method":"POST"}'
    expectSame(
      rows.map(({ head }) => head),
      [plain, plain, ...heads],
      'the heads',
    )
  },
  'claim: leaves settled rows that await no delivery': async ({ run, batch }) => {
    await batch(settled('a', { name: 'n' }), settled('b', { owner: 'me', leaseUntil: 1 }))
    expectSame(await run(claimCommand({ deliverNames: '*' })), [], 'the rows')
  },
  'claim: takes settlements for the names it can deliver': async ({ run, batch }) => {
    const due = { deliveryDue: true }
    await batch(settled('a', { ...due, name: 'x' }), settled('b', { ...due, name: 'y' }), settled('c', due))
    expectSame(await run(claimCommand()), [], 'without names')
    expectSame(keysOf(await run(claimCommand({ deliverNames: ['x', 'z'] }))), 'a', 'by name')
    expectSame(keysOf(await run(claimCommand({ deliverNames: '*' }))), 'b c', 'by star')
  },
  'claim: a settlement is due at its time, and the server has no say in it any more': async ({ run, batch }) => {
    const due = { deliveryDue: true, name: 'x' }
    await batch(settled('a', { ...due, dueAt: NOW + 1 }), settled('b', { ...due, notBefore: NOW + 1 }))
    expectSame(keysOf(await run(claimCommand({ deliverNames: ['x'] }))), 'b', 'the rows')
  },
  'claim: leaves pending rows of the origins to spare, but delivers their settlements': async ({ run, batch }) => {
    const origin = 'https://down.example.com'
    await batch(append('a', { origin }), append('b'), settled('c', { origin, deliveryDue: true }))
    expectSame(keysOf(await run(claimCommand({ exceptOrigins: [origin], deliverNames: '*' }))), 'b c', 'the rows')
  },
  'claim: takes pending rows of the named origins only, but delivers settlements of any': async ({ run, batch }) => {
    const origin = 'https://other.example.com'
    await batch(append('a', { origin }), append('b'), settled('c', { origin, deliveryDue: true }))
    expectSame(await run(claimCommand({ origins: [] })), [], 'without origins')
    expectSame(await run(claimCommand({ origins: [origin], exceptOrigins: [origin] })), [], 'named and spared')
    expectSame(keysOf(await run(claimCommand({ origins: ['https://x.example', origin] }))), 'a', 'the other origin')
    const { origin: own } = append('b').row
    expectSame(keysOf(await run(claimCommand({ origins: [own], deliverNames: '*' }))), 'b c', 'with settlements')
  },
  'claim: leaves settlements of the excepted names, also nameless ones': async ({ run, batch }) => {
    const due = { deliveryDue: true }
    await batch(append('p', { name: 'x' }), settled('a', { ...due, name: 'x' }), settled('b', { ...due, name: 'y' }))
    await run(settled('c', due))
    expectSame(keysOf(await run(claimCommand({ deliverNames: '*', exceptNames: ['x', ''] }))), 'p b', 'by star')
    expectSame(await run(claimCommand({ deliverNames: ['x'], exceptNames: ['x'] })), [], 'by name')
    const filter = { deliverNames: '*', exceptNames: ['x'] } as const
    expectSame((await run(surveyCommand(filter))).nextDueAt, 0, 'the survey')
    expectSame(keysOf(await run(claimCommand(filter))), 'c', 'the nameless one')
  },
  'claim: leaves rows of a newer version alone': async ({ run, batch }) => {
    await batch(append('a', { version: RECORD_VERSION + 1 }), append('b'))
    expectSame(keysOf(await run(claimCommand())), 'b', 'the rows')
    expectSame(await run(claimByKey('a')), [], 'by key')
  },
  'claim: takes nothing of another namespace': async ({ run }) => {
    await run(append('a', { namespace: 'else' }))
    expectSame(await run(claimCommand()), [], 'the rows')
  },
  'claim: a row that becomes pending again keeps its place': async ({ run, batch }) => {
    await batch(settled('a', { status: 'failed' }), append('b'))
    const [taken] = await run(claimByKey('a', { owner: 'me', statuses: ['failed'] }))
    const { change } = commit('a')
    await run({ ...commit('a', { epoch: taken?.epoch ?? 0 }), change: { ...change, status: 'pending' } })
    expectSame(keysOf(await run(claimCommand())), 'a b', 'the rows')
  },
  'claim by key: due times do not matter': async ({ run }) => {
    await run(append('a', { dueAt: NOW + 9, notBefore: NOW + 9 }))
    const [taken] = await run(claimByKey('a'))
    expectSame([taken?.owner, taken?.epoch, taken?.previousOwner], ['you', 1, null], 'the lease')
  },
  'claim by key: only in one of the statuses': async ({ run }) => {
    await run(settled('a', { status: 'failed' }))
    expectSame(await run(claimByKey('a')), [], 'another status')
    expectSame((await run(claimByKey('a', { statuses: ['pending', 'failed'] })))[0]?.key, 'a', 'the right status')
  },
  'claim by key: only if the lease is free': async ({ run }) => {
    await run(held('a'))
    expectSame(await run(claimByKey('a')), [], 'a live owner')
    expectSame((await run(claimByKey('a', { deadOwners: ['me'] })))[0]?.previousOwner, 'me', 'a dead owner')
    expectSame((await run(claimByKey('a', { now: NOW + 30_000 })))[0]?.previousOwner, 'you', 'a lapsed lease')
    expectSame(await run(claimByKey('unknown')), [], 'an unknown key')
  },
}
