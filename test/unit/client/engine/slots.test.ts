import { describe, expect, it } from 'vitest'
import { Slots, type SlotUser } from '../../../../src/client/engine/recover/slots.ts'

/** Who got a slot, in this order. */
function record(slots: Slots, users: readonly SlotUser[]): string[] {
  const served: string[] = []
  users.forEach((user, n) => void slots.take(user).then(() => served.push(`${user} ${n}`)))
  return served
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('slots', () => {
  it('are taken at once while any is free', async () => {
    const slots = new Slots(3)
    await slots.take('pass')
    expect(slots.takeFree(5)).toBe(2)
    expect(slots.takeFree(5)).toBe(0)
    expect(slots.tryTake()).toBe(false)
  })

  it('go to passes and lanes in turn, in the order of arrival', async () => {
    const slots = new Slots(1)
    await slots.take('pass')
    const served = record(slots, ['lane', 'lane', 'lane', 'pass', 'pass'])
    slots.release(5)
    await turn()
    expect(served).toEqual(['pass 3', 'lane 0', 'pass 4', 'lane 1', 'lane 2'])
  })

  it('are free again if nobody waits', async () => {
    const slots = new Slots(2)
    await slots.take('lane')
    await slots.take('lane')
    slots.release(2)
    expect(slots.takeFree(5)).toBe(2)
  })

  it('are taken up to as many as are wanted', () => {
    const slots = new Slots(3)
    expect(slots.takeFree(1)).toBe(1)
    expect(slots.tryTake()).toBe(true)
    expect(slots.takeFree(5)).toBe(1)
  })

  it('go first to an operation that goes on', async () => {
    const slots = new Slots(1)
    await slots.take('pass')
    const served = record(slots, ['pass', 'lane', 'operation'])
    slots.release(3)
    await turn()
    expect(served).toEqual(['operation 2', 'pass 0', 'lane 1'])
  })

  it('go to lanes first while very many of them wait', async () => {
    const slots = new Slots(1)
    await slots.take('pass')
    const served = record(slots, ['pass', ...Array.from({ length: 1002 }, () => 'lane' as const)])
    slots.release(3)
    await turn()
    expect(served).toEqual(['lane 1', 'lane 2', 'pass 0'])
  })
})
