import { describe, expect, it } from 'vitest'
import { MemoryTable } from '../../../../../src/client/journal/memory/memory-table.ts'
import { PlaceIndex } from '../../../../../src/client/journal/memory/place-index.ts'
import { row } from '../../../../../src/testing/contracts/journal/sample-row.ts'

describe('the place index', () => {
  it('gives places back in order, whatever the order they came and went in', () => {
    const index = new PlaceIndex()
    for (const place of [5, 1, 9, 3, 5, 7]) index.add(place)
    index.delete(3)
    index.delete(4)
    expect([...index.after(0)]).toEqual([1, 5, 7, 9])
    expect([...index.after(5)]).toEqual([7, 9])
    expect([...index.after(6)]).toEqual([7, 9])
    expect([...index.after(9)]).toEqual([])
    expect(index.size).toBe(4)
  })
})

describe('the table in memory', () => {
  it('looks only through rows that somebody may want to claim, however many are settled', () => {
    const table = new MemoryTable()
    const put = (key: string, more = {}) => table.insert({ ...row(key, more), setAside: false })
    for (let at = 0; at < 10_000; at++) put(`s${at}`, { status: 'succeeded' })
    put('pending')
    const looked: string[] = []
    table.find({ index: 'open', namespace: 'contract', where: ({ key }) => looked.push(key) > 0 })
    expect(looked).toEqual(['pending'])
  })

  it('is as before after an undo, with every index', () => {
    const table = new MemoryTable()
    table.insert({ ...row('a', { id: 'one', expiresAt: 5 }), setAside: false })
    table.keep()
    const named = (namespace: string, id: string) => table.find({ index: 'key', namespace, id, key: '' })[0]
    const before = named('contract', 'one')
    if (before) table.put({ ...before, status: 'succeeded', expiresAt: null })
    table.insert({ ...row('b', { id: 'two', namespace: 'else', expiresAt: 7 }), setAside: false })
    const changed = named('contract', 'one')
    if (changed) table.delete(changed)
    table.undo()
    expect(before?.key).toBe('a')
    expect(named('contract', 'one')).toBe(before)
    expect(table.find({ index: 'open', namespace: 'contract' })).toEqual([before])
    expect(table.find({ index: 'expiry', now: 9, limit: 9, where: () => true })).toEqual([before])
    expect(table.find({ index: 'all', namespace: 'else' })).toEqual([])
    expect(named('else', 'two')).toBeUndefined()
  })
})
