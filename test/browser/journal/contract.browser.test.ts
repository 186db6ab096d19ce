import { beforeAll, describe, expect, it } from 'vitest'
import { journalContract } from '../../../src/testing/contracts/journal-contract.ts'
import { launch } from '../support/launch.ts'
import { JournalTab, serveJournalPages } from './journal-tab.ts'

const never = (): never => {
  throw new Error('The cases run in the page')
}
const names = journalContract({ open: never, another: never, reopen: never }).map(({ name }) => name)

let tab: JournalTab

beforeAll(async () => {
  const pages = await serveJournalPages()
  tab = await JournalTab.open(await launch(), pages)
})

describe('the journal IndexedDB in Chromium', () => {
  it('is put to every case of the contract', async () => {
    expect(await tab.ask('caseNames')).toEqual(names)
  })

  for (const name of names) it(name, () => expect(tab.ask('runCase', name)).resolves.toBeUndefined())
})
