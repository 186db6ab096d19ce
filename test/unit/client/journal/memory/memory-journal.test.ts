import { describe, expect, it } from 'vitest'
import { MemoryTable, memoryJournal } from '../../../../../src/client/journal/memory/memory-journal.ts'
import {
  append,
  change,
  claimCommand,
  commit,
  held,
  keysOf,
  list,
  prune,
  read,
  remove,
  settled,
  surveyCommand,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'

describe('the journal in memory', () => {
  it('looks only through open rows, however many are settled', async () => {
    const table = new MemoryTable()
    await table.execute(Array.from({ length: 10_000 }, (_, at) => settled(`s${at}`)))
    await table.execute([append('pending')])
    const looked: string[] = []
    table.find({ index: 'open', namespace: 'contract', where: ({ key }) => looked.push(key) > 0 })
    expect(looked).toEqual(['pending'])
  })

  it('keeps rows in order, whatever the order in which they are settled and opened again', async () => {
    const journal = memoryJournal()
    const keys = Array.from({ length: 9 }, (_, at) => `k${at}`)
    await journal.execute(keys.map((key) => held(key)))
    const shuffled = ['k5', 'k1', 'k7', 'k3']
    const holding = { owner: 'me', leaseUntil: 1 }
    await journal.execute(shuffled.map((key) => ({ ...commit(key), change: change(holding) })))
    await journal.execute(
      shuffled.map((key) => ({ ...commit(key), change: change({ ...holding, status: 'pending' }) })),
    )
    await journal.execute([remove('k4')])
    const [claimed] = await journal.execute([claimCommand({ deadOwners: ['me'], limit: 9 })])
    expect(keysOf(claimed as { key: string }[])).toBe('k0 k1 k2 k3 k5 k6 k7 k8')
  })

  it('is as before after a batch that failed, with every index', async () => {
    const journal = memoryJournal()
    await journal.execute([held('a', { id: 'one', expiresAt: 5 }), settled('b'), held('c')])
    const look = () =>
      journal.execute([list(), list({ namespace: 'else' }), list({ status: 'pending' }), read('one'), surveyCommand()])
    const before = await look()
    const failing = append('broken', { dueAt: Number.NaN })
    const other = append('z', { id: 'two', namespace: 'else', expiresAt: 7 })
    const batch = [commit('a'), other, append('d', { id: 'three' }), remove('c'), prune(6, 9), failing]
    await expect(journal.execute(batch)).rejects.toThrow('not finite')
    expect(await look()).toEqual(before)
    expect(await journal.execute([prune(6, 9), append('e', { id: 'three' })])).toEqual([1, { appended: true }])
    expect(await journal.execute([read('two', 'else')])).toEqual([undefined])
  })
})
