import type { Journal } from '../../../client/journal/port.ts'
import { type CaseBody, type JournalContractOptions, type Subject, subjectOf } from './contract-case.ts'
import { expectSame, expectThat } from './expect.ts'
import { append, claimCommand, commit, held, keysOf, list, read, remove } from './sample-row.ts'

type Another = NonNullable<JournalContractOptions['another']>
type Reopen = NonNullable<JournalContractOptions['reopen']>

async function withAnother(journal: Journal, another: Another, body: (other: Subject) => Promise<void>): Promise<void> {
  const second = await another(journal)
  await second.open()
  try {
    await body(subjectOf(second))
  } finally {
    if (second !== journal) await second.close()
  }
}

/** For stores that more than one journal can use at once. */
export function journalSharingCases(another: Another): Record<string, CaseBody> {
  return {
    'sharing: what one journal has written, another one sees': ({ journal, run }) =>
      withAnother(journal, another, async (other) => {
        await run(append('a', { id: 'one' }))
        expectSame((await other.run(read('one')))?.key, 'a', 'the row')
        const again = await other.run(append('b', { id: 'one' }))
        expectThat(!again.appended, 'the id is taken for the other one too')
      }),
    'sharing: of two appends with one id at the same time, one wins': ({ journal, run }) =>
      withAnother(journal, another, async (other) => {
        for (let round = 0; round < 20; round++) {
          const id = `order:${round}`
          const answers = await Promise.all([run(append(`a${round}`, { id })), other.run(append(`b${round}`, { id }))])
          expectSame(answers.filter(({ appended }) => appended).length, 1, `winners of round ${round}`)
        }
      }),
    'sharing: two journals that claim at the same time never get the same row': ({ journal, run, batch }) =>
      withAnother(journal, another, async (other) => {
        await batch(...Array.from({ length: 200 }, (_, at) => append(`k${at}`)))
        const drain = async (subject: Subject, owner: string): Promise<string[]> => {
          const keys: string[] = []
          for (;;) {
            const taken = await subject.run(claimCommand({ owner, limit: 7 }))
            if (taken.length === 0) return keys
            keys.push(...taken.map(({ key }) => key))
          }
        }
        const all = (await Promise.all([drain({ journal, run, batch }, 'one'), drain(other, 'two')])).flat()
        expectSame([all.length, new Set(all).size], [200, 200], 'claims and distinct rows')
      }),
    'sharing: a claim by one makes the fence of the other stale': ({ journal, run }) =>
      withAnother(journal, another, async (other) => {
        await run(held('a'))
        await other.run(claimCommand({ deadOwners: ['me'] }))
        expectSame([await run(commit('a')), await run(remove('a'))], [false, false], 'the answers')
      }),
  }
}

/** For stores that outlive their process. */
export function lastingCases(reopen: Reopen): Record<string, CaseBody> {
  return {
    'lasting: everything is there after closing and opening again': async ({ journal, run, batch }) => {
      await batch(append('a', { id: 'one', body: new Uint8Array(9000).fill(7) }), held('b'), append('c'))
      await batch(commit('b'))
      const before = await run(list())
      await journal.close()
      const again = await reopen(journal)
      await again.open()
      try {
        expectSame(await subjectOf(again).run(list()), before, 'the rows')
        expectSame(keysOf(await subjectOf(again).run(claimCommand())), 'a c', 'the claim')
      } finally {
        await again.close()
      }
    },
    'lasting: open may be called again': async ({ journal, run }) => {
      await run(append('a'))
      await journal.open()
      expectSame(keysOf(await run(list())), 'a', 'the rows')
    },
  }
}
