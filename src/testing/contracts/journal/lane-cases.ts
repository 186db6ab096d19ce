import type { RowChange } from '../../../client/journal/port.ts'
import type { CaseBody, Subject } from './contract-case.ts'
import { expectSame } from './expect.ts'
import {
  append,
  change,
  claimByKey,
  claimCommand,
  fence,
  firstInLane,
  held,
  inLane,
  keysOf,
  NOW,
  prune,
  read,
  remove,
  SPACE,
  setAside,
  surveyCommand,
} from './sample-row.ts'

const HELD = { owner: 'me', epoch: 1, leaseUntil: NOW + 30_000 } as const

function commit({ run }: Subject, key: string, more: Partial<RowChange>): Promise<boolean> {
  return run({ do: 'write', ...fence(key), change: change(more) })
}

export const laneCases: Record<string, CaseBody> = {
  'lanes: a claim takes the first of each lane, and all that have none': async ({ run, batch }) => {
    await batch(inLane('a1', 'a'), append('free'), inLane('a2', 'a'), inLane('b1', 'b'), append('free2'))
    expectSame(keysOf(await run(claimCommand())), 'a1 free b1 free2', 'the rows')
    expectSame(keysOf(await run(claimCommand({ now: NOW + 60, limit: 1 }))), '', 'what is left')
  },
  'lanes: those behind wait for a first row that a live runner holds, and are claimed by key all the same': async ({
    run,
    batch,
  }) => {
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a'))
    expectSame(await run(claimCommand()), [], 'the rows')
    expectSame(keysOf(await run(claimCommand({ deadOwners: ['me'] }))), 'a1', 'of a dead runner')
    expectSame(keysOf(await run(claimByKey('a2'))), 'a2', 'by key')
  },
  'lanes: a first row that is not due holds the others up': async ({ run, batch }) => {
    await batch(inLane('a1', 'a', { dueAt: NOW + 5 }), inLane('a2', 'a'), inLane('b1', 'b', { notBefore: NOW + 7 }))
    expectSame(await run(claimCommand()), [], 'the rows')
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 5, 'the next due time')
    expectSame(await run(claimCommand({ exceptOrigins: ['https://api.example.com'], dueBy: NOW + 5 })), [], 'spared')
    expectSame(keysOf(await run(claimCommand({ dueBy: NOW + 5 }))), 'a1', 'when it is due')
  },
  'lanes: the next is first once the one before it has let its lane go': async (subject) => {
    const { run, batch } = subject
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a'), inLane('a3', 'a'))
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 9000, 'the next due time before')
    expectSame(await commit(subject, 'a1', {}), true, 'the commit')
    expectSame(await run(firstInLane('a')), 'a2', 'the first')
    expectSame((await run(surveyCommand())).nextDueAt, 0, 'the next due time')
    expectSame(keysOf(await run(claimCommand())), 'a2', 'the rows')
  },
  'lanes: a settled row may go on to hold its lane': async (subject) => {
    const { run, batch } = subject
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a'))
    await commit(subject, 'a1', { status: 'failed', laneUntil: NOW + 9000, expiresAt: null })
    expectSame(await run(firstInLane('a')), 'a1', 'the first')
    expectSame(await run(claimCommand()), [], 'the rows')
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 9000, 'the next due time')
    expectSame(await run(prune(NOW + 99_999, 10)), 0, 'pruned')
    await run(claimByKey('a1', { owner: 'me', statuses: ['failed'] }))
    await run({ do: 'write', ...fence('a1', { epoch: 2 }), change: change({ status: 'cancelled' }) })
    expectSame(keysOf(await run(claimCommand())), 'a2', 'the rows after that')
  },
  'lanes: a pending row may let its lane go': async (subject) => {
    const { run, batch } = subject
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a'))
    await commit(subject, 'a1', { status: 'pending', dueAt: NOW + 99, expiresAt: null })
    expectSame(await run(firstInLane('a')), 'a2', 'the first')
    expectSame(keysOf(await run(claimCommand())), 'a2', 'the rows')
    expectSame(keysOf(await run(claimCommand({ dueBy: NOW + 99 }))), 'a1', 'the row that holds no lane any more')
  },
  'lanes: a row that is removed holds nothing, and one that is set aside its lane': async ({ run, batch }) => {
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a', HELD), inLane('a3', 'a'))
    await run(remove('a1'))
    expectSame(await run(firstInLane('a')), 'a2', 'after the removal')
    await run(setAside('a2'))
    expectSame(await run(firstInLane('a')), 'a2', 'the first')
    expectSame(await run(claimCommand()), [], 'the rows behind one that is set aside')
    expectSame((await run(read('a2')))?.laneUntil, NOW + 9000, 'the row that is set aside')
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 9000, 'the next due time')
    await run({ do: 'drop', namespace: SPACE })
    expectSame(await run(firstInLane('a')), undefined, 'of none')
  },
  'lanes: a row that is removed and appended in one batch stands at the end': async ({ run, batch }) => {
    await batch(held('a1', { lane: 'a' }), inLane('a2', 'a'))
    const [removed, added] = await batch(remove('a1'), inLane('a1', 'a'))
    expectSame([removed, added], [true, { appended: true }], 'the answers')
    expectSame(await run(firstInLane('a')), 'a2', 'the first')
    expectSame(keysOf(await run(claimCommand())), 'a2', 'the rows')
  },
  'lanes: a row past its own time is claimed wherever it stands': async ({ run, batch }) => {
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a', { laneUntil: NOW + 3 }), inLane('a3', 'a'))
    expectSame((await run(surveyCommand())).nextDueAt, NOW + 3, 'the next due time')
    expectSame(keysOf(await run(claimCommand({ now: NOW + 3 }))), 'a2', 'the rows')
    expectSame(await run(firstInLane('a')), 'a1', 'the first')
  },
  'lanes: a settlement behind others in its lane is delivered': async ({ run, batch }) => {
    const due = { status: 'failed', deliveryDue: true, name: 'n' } as const
    await batch(inLane('a1', 'a', HELD), inLane('a2', 'a', due))
    expectSame((await run(surveyCommand({ deliverNames: '*' }))).nextDueAt, 0, 'the next due time')
    expectSame(keysOf(await run(claimCommand({ deliverNames: ['n'] }))), 'a2', 'the rows')
  },
  'lanes: a claim may ask for one lane, behind a place': async ({ run, batch }) => {
    await batch(inLane('a1', 'a'), inLane('b1', 'b'), append('free'), inLane('b2', 'b'))
    expectSame(keysOf(await run(claimCommand({ lane: 'b' }))), 'b1', 'the rows')
    const place = (await run(read('b1')))?.place ?? 0
    expectSame(await run(claimCommand({ lane: 'b', after: place })), [], 'behind the first')
    expectSame(await run(claimCommand({ lane: 'c' })), [], 'of a lane that is not there')
  },
  'lanes: the same name in another namespace is another lane': async ({ run, batch }) => {
    await batch(inLane('x', 'a', { namespace: 'else' }), inLane('a1', 'a'))
    expectSame(keysOf(await run(claimCommand())), 'a1', 'the rows')
    expectSame(await run(firstInLane('a', 'else')), 'x', 'the first of the other')
    expectSame(await run(firstInLane('b')), undefined, 'a lane that is not there')
  },
  'lanes: a row of a newer version holds its lane': async ({ run, batch }) => {
    await batch(inLane('a1', 'a', { version: 99 }), inLane('a2', 'a'))
    expectSame(await run(claimCommand()), [], 'the rows')
  },
  'lanes: any Unicode text is a lane, compared exactly': async ({ run }) => {
    const lanes = ['é', 'e\u0301', '🦀', 'a\u0000b', 'a', 'A', "'; DROP TABLE x; --", '']
    for (const [at, lane] of lanes.entries()) await run(inLane(`k${at}`, lane))
    for (const [at, lane] of lanes.entries()) expectSame(await run(firstInLane(lane)), `k${at}`, lane)
  },
}
