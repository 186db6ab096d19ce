import type { CaseBody } from './contract-case.ts'
import { expectSame, expectStorageError } from './expect.ts'
import { change, claimCommand, commit, held, keysOf, list, NOW, read, remove, renew, setAside } from './sample-row.ts'

const STALE = { 'another owner': { owner: 'you' }, 'an older epoch': { epoch: 0 }, 'a newer epoch': { epoch: 2 } }

export const journalFenceCases: Record<string, CaseBody> = {
  'commit: writes every field of the change and nothing else': async ({ run }) => {
    await run(held('a', { id: 'one', name: 'n' }))
    const before = await run(read('a'))
    const failed = change({ status: 'failed' })
    expectSame(await run({ ...commit('a'), change: failed }), true, 'the answer')
    expectSame(await run(read('a')), { ...before, ...failed }, 'the row')
  },
  'commit: a holder whose lease has lapsed may write until another runner claims': async ({ run }) => {
    await run(held('a', { leaseUntil: NOW - 1 }))
    await run(claimCommand({ now: NOW - 10 }))
    expectSame(await run(commit('a')), true, 'before the claim')
  },
  'commit: a stale fence changes nothing': async ({ run }) => {
    await run(held('a'))
    const before = await run(read('a'))
    for (const [what, fence] of Object.entries(STALE)) expectSame(await run(commit('a', fence)), false, what)
    expectSame(await run(commit('a', { namespace: 'else' })), false, 'another namespace')
    expectSame(await run(commit('unknown')), false, 'an unknown key')
    expectSame(await run(read('a')), before, 'the row')
  },
  'commit: a former holder changes nothing once another runner has claimed': async ({ run }) => {
    await run(held('a'))
    await run(claimCommand({ deadOwners: ['me'] }))
    const taken = await run(read('a'))
    expectSame(await run(commit('a')), false, 'the answer')
    expectSame(await run(remove('a')), false, 'the removal')
    expectSame(await run(read('a')), taken, 'the row')
  },
  'remove: drops the row of the holder': async ({ run }) => {
    await run(held('a'))
    expectSame(await run(remove('a')), true, 'the answer')
    expectSame(await run(read('a')), undefined, 'the row')
    expectSame(await run(remove('a')), false, 'the second time')
  },
  'remove: a stale fence changes nothing': async ({ run }) => {
    await run(held('a'))
    for (const [what, fence] of Object.entries(STALE)) expectSame(await run(remove('a', fence)), false, what)
    expectSame(keysOf(await run(list())), 'a', 'the rows')
  },
  'renew: moves the end of the lease and nothing else': async ({ run }) => {
    await run(held('a'))
    const before = await run(read('a'))
    expectSame(await run(renew('a', NOW + 60_000)), true, 'the answer')
    expectSame(await run(read('a')), { ...before, leaseUntil: NOW + 60_000 }, 'the row')
  },
  'renew: a stale fence changes nothing': async ({ run }) => {
    await run(held('a'))
    for (const [what, fence] of Object.entries(STALE)) expectSame(await run(renew('a', NOW, fence)), false, what)
    expectSame((await run(read('a')))?.leaseUntil, NOW + 30_000, 'the lease')
  },
  'set aside: a stale fence changes nothing': async ({ run }) => {
    await run(held('a'))
    for (const [what, fence] of Object.entries(STALE)) expectSame(await run(setAside('a', fence)), false, what)
    expectSame(keysOf(await run(claimCommand({ deadOwners: ['me'] }))), 'a', 'the claim')
  },
  'write: refuses what could not be given back exactly': async ({ run }) => {
    await run(held('a'))
    const before = await run(read('a'))
    for (const field of ['leaseUntil', 'dueAt', 'notBefore', 'expiresAt'] as const) {
      await expectStorageError(run({ ...commit('a'), change: change({ [field]: Number.NaN }) }))
    }
    await expectStorageError(run({ ...commit('a'), change: change({ status: 'done' as never }) }))
    await expectStorageError(run({ ...commit('a'), change: change({ owner: 'half \ud83d' }) }))
    await expectStorageError(run(renew('a', Number.POSITIVE_INFINITY)))
    expectSame(await run(read('a')), before, 'the row')
  },
  'batch: a stale fence does not stop the rest of its batch': async ({ batch, run }) => {
    await batch(held('a'), held('b'))
    expectSame(await batch(commit('a', { epoch: 9 }), remove('b')), [false, true], 'the answers')
    expectSame(keysOf(await run(list())), 'a', 'the rows')
  },
}
