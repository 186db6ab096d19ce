import { describe, expect, it } from 'vitest'
import { LiveOperation, LiveOperations } from '../../../../src/client/engine/run/live-operation.ts'
import { freshRecord } from '../../../support/shared-record.ts'

describe('an operation that is being worked on', () => {
  it('obeys the first order, tells it once to whoever listens, and at once to whoever listens late', () => {
    const operation = new LiveOperation(freshRecord())
    const heard: string[] = []
    operation.listen(() => heard.push('early'))
    operation.stop({ because: 'abandoned', cause: 'mine' })
    operation.stop({ because: 'closing' })
    expect(operation.stopOrder).toEqual({ because: 'abandoned', cause: 'mine' })
    operation.listen(() => heard.push('late'))
    expect(heard).toEqual(['early', 'late'])
  })

  it('may go on only after a lost lease', () => {
    for (const because of ['cancelled', 'closing'] as const) {
      const operation = new LiveOperation(freshRecord())
      operation.stop({ because })
      operation.resetStop()
      expect(operation.stopOrder).toEqual({ because })
    }
    const operation = new LiveOperation(freshRecord())
    operation.stop({ because: 'lease-lost' })
    operation.resetStop()
    expect(operation.stopOrder).toBeUndefined()
  })

  it('has a fence that fits nothing where it has no lease', () => {
    expect(new LiveOperation(freshRecord({ lease: undefined })).fence).toMatchObject({ owner: '', epoch: -1 })
    expect(new LiveOperation(freshRecord()).fence).toMatchObject({ owner: 'me', epoch: 1 })
  })
})

describe('the operations of a client', () => {
  it('are found by key and by id, and are gone once removed', () => {
    const live = new LiveOperations()
    const operation = new LiveOperation(freshRecord({ key: 'k', id: 'order:1' }))
    live.add(operation)
    expect(live.find('k')).toBe(operation)
    expect(live.find('order:1')).toBe(operation)

    expect(live.size).toBe(1)
    live.remove(operation)
    expect(live.find('k') ?? live.find('order:1')).toBeUndefined()
  })

  it('are not removed by somebody who was replaced', () => {
    const live = new LiveOperations()
    const [first, second] = [new LiveOperation(freshRecord({ key: 'k' })), new LiveOperation(freshRecord({ key: 'k' }))]
    live.add(first)
    live.add(second)
    live.remove(first)
    expect(live.find('k')).toBe(second)
  })
})
