import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/index.ts'
import { scenario, turn } from '../support/client-scenario.ts'
import { heldJournal } from '../support/held-journal.ts'

describe('an operation that is looked up while its call is being written', () => {
  it('shows the key that it really has: that of the operation whose id the call has joined', async () => {
    const disk = memoryJournal()
    const first = scenario([{ status: 201, body: 'done' }], { journal: disk })
    const done = first.client.post('/a', { id: 'order:1' })
    await done
    await first.client.flush()
    const journal = heldJournal(disk)
    const second = scenario([], { journal })
    const release = journal.hold('append', 'after')
    const joined = second.client.post('/a', { id: 'order:1' })
    await turn()
    const found = second.client.operation('order:1')
    await turn()
    release()
    expect((await found)?.key).toBe(done.key)
    expect(await joined.text()).toBe('done')
  })
})
