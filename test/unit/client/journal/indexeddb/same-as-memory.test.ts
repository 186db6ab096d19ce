import { expect, it } from 'vitest'
import { expectSameAsMemory } from '../../../../support/same-as-memory.ts'
import { emptyBrowser, forgetAll, openJournal } from './scratch.ts'

emptyBrowser()

it('answers whatever it is asked as the journal in memory does', async () => {
  const open = (): ReturnType<typeof openJournal> => {
    forgetAll()
    return openJournal()
  }
  await expect(expectSameAsMemory(open, 'dense')).resolves.toBeUndefined()
}, 60_000)
