import type { CaseBody } from './contract-case.ts'
import { expectSame } from './expect.ts'
import { change, claim, commit, held, keysOf, list, NOW, read, remove, renew } from './sample-row.ts'

const STALE = { 'another owner': { owner: 'you' }, 'an older epoch': { epoch: 0 }, 'a newer epoch': { epoch: 2 } }

export const fenceCases: Record<string, CaseBody> = {
  'commit: writes every field of the change and nothing else': async ({ run }) => {
    await run(held('a', { id: 'one', name: 'n' }))
    const before = await run(read('a'))
    expectSame(await run(commit('a')), true, 'the answer')
    expectSame(await run(read('a')), { ...before, ...change() }, 'the row')
  },
  'commit: a holder whose lease has lapsed may write until somebody else claims': async ({ run }) => {
    await run(held('a', { leaseUntil: NOW - 1 }))
    await run(claim({ now: NOW - 10 }))
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
  'commit: somebody whose row was claimed by another changes nothing': async ({ run }) => {
    await run(held('a'))
    await run(claim({ deadOwners: ['me'] }))
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
  'batch: a stale fence does not stop the rest of its batch': async ({ batch, run }) => {
    await batch(held('a'), held('b'))
    expectSame(await batch(commit('a', { epoch: 9 }), remove('b')), [false, true], 'the answers')
    expectSame(keysOf(await run(list())), 'a', 'the rows')
  },
}
