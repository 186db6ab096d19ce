import { describe, expect, it } from 'vitest'
import { ConfigurationError, createRetryBudget, memoryJournal } from '../../src/index.ts'
import { indexedDbJournal } from '../../src/indexeddb/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import {
  crashAt,
  journalContract,
  ledgerContract,
  manualClock,
  scriptedFetch,
  simulate,
} from '../../src/testing/index.ts'
import { scenario } from '../support/client-scenario.ts'

const { client } = scenario([])
const journal = memoryJournal()
/** Each public function that takes options, given what no type would let through. */
const act = {
  resume: (options: never) => client.resume(options),
  operations: (options: never) => client.operations(options),
  retry: (options: never) => client.retry('k', options),
  with: (options: never) => client.with(options),
  sqliteJournal: (options: never) => sqliteJournal(options),
  indexedDbJournal: (options: never) => indexedDbJournal(options),
  createRetryBudget: (options: never) => createRetryBudget(options),
  crashAt: (options: never) => crashAt('append:asked', options),
  scriptedFetch: (options: never) => scriptedFetch([], options),
  simulate: (options: never) => simulate(options),
  journalContract: (options: never) => journalContract(options),
  ledgerContract: (options: never) => ledgerContract(options),
  manualClock: (options: never) => manualClock(options),
}

/** What it throws, or rejects with. */
async function complaint(what: keyof typeof act, options: unknown): Promise<string> {
  try {
    await act[what](options as never)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error('It was taken')
}

describe('an unknown name is refused with the nearest right spelling', () => {
  const misspelt: readonly (readonly [keyof typeof act, object, string])[] = [
    ['resume', { continous: true }, 'There is no option `resume.continous`. Did you mean `resume.continuous`?'],
    ['operations', { state: 'pending' }, 'There is no option `operations.state`. Did you mean `operations.status`?'],
    ['retry', { dedline: 5 }, 'Did you mean `retry.deadline`?'],
    ['with', { deadline: 5 }, 'Did you mean `context.deadlineAt`?'],
    ['sqliteJournal', { file: 'a.db' }, 'There is no option `sqliteJournal.file`.'],
    ['sqliteJournal', { path: 'a.db', durabilty: 'full' }, 'Did you mean `sqliteJournal.durability`?'],
    ['indexedDbJournal', { nam: 'a' }, 'Did you mean `indexedDbJournal.name`?'],
    ['createRetryBudget', { brust: 1 }, 'Did you mean `budget.burst`?'],
    ['crashAt', { journal, occurence: 2 }, 'Did you mean `crashAt.occurrence`?'],
    ['scriptedFetch', { clok: manualClock() }, 'Did you mean `scriptedFetch.clock`?'],
    ['simulate', { history: 5 }, 'Did you mean `simulate.histories`?'],
    ['journalContract', { open: memoryJournal, reopn: memoryJournal }, 'Did you mean `journalContract.reopen`?'],
    ['ledgerContract', { open: () => {}, anther: () => {} }, 'Did you mean `ledgerContract.another`?'],
  ]
  it.each(misspelt)('%s(%j)', async (what, options, sentence) => {
    expect(await complaint(what, options)).toContain(sentence)
  })
})

describe('a value of the wrong kind is refused by name', () => {
  const wrong: readonly (readonly [keyof typeof act, unknown, string])[] = [
    ['resume', { continuous: 'yes' }, '`resume.continuous` must be true or false'],
    ['resume', { concurrency: 0 }, '`resume.concurrency` must be a whole number of at least 1'],
    ['resume', { concurrency: '4' }, '`resume.concurrency`'],
    ['resume', { signal: new AbortController() }, '`resume.signal` must be an AbortSignal'],
    ['resume', true, '`resume` must be an object'],
    ['operations', { status: 'done' }, "`operations.status` must be 'pending' or 'succeeded'"],
    ['operations', { limit: -1 }, '`operations.limit`'],
    ['operations', { limit: 1.5 }, '`operations.limit`'],
    ['operations', { after: 5 }, '`operations.after`'],
    ['operations', 'pending', '`operations` must be an object'],
    ['retry', { signal: 5 }, '`retry.signal` must be an AbortSignal'],
    ['retry', { deadline: 'soon' }, '`retry.deadline`'],
    ['retry', '5s', '`retry` must be an object'],
    ['sqliteJournal', undefined, 'sqliteJournal needs the path of a file'],
    ['sqliteJournal', 'a.db', '`sqliteJournal` must be an object'],
    ['sqliteJournal', { path: 5 }, '`sqliteJournal.path`'],
    ['sqliteJournal', { database: {} }, '`sqliteJournal.database`'],
    ['sqliteJournal', { path: 'a.db', durability: 'half' }, "`sqliteJournal.durability` must be 'full' or 'process'"],
    ['indexedDbJournal', 'shop', '`indexedDbJournal` must be an object'],
    ['indexedDbJournal', { durability: 'full' }, "`indexedDbJournal.durability` must be 'strict' or 'relaxed'"],
    ['createRetryBudget', 5, '`budget` must be an object'],
    ['crashAt', undefined, '`crashAt.journal`'],
    ['crashAt', { journal: {} }, '`crashAt.journal`'],
    ['crashAt', { journal, occurrence: 0 }, '`crashAt.occurrence`'],
    ['scriptedFetch', { clock: 5 }, '`scriptedFetch.clock`'],
    ['simulate', { histories: 'many' }, '`simulate.histories`'],
    ['journalContract', {}, '`journalContract.open`'],
    ['manualClock', {}, '`startAt` must be'],
    ['manualClock', Number.NaN, '`startAt` must be'],
  ]
  it.each(wrong)('%s(%j)', async (what, options, sentence) => {
    expect(await complaint(what, options)).toContain(sentence)
  })
})
