import { describe, expect, it } from 'vitest'
import { HeldSlot, LONG_MS, Slots } from '../../../../src/client/engine/recover/slots.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

const A = 'https://a.example'
const B = 'https://b.example'

const slotsOf = (count: number): Slots => new Slots(count, manualClock())

/** Who got a slot, in this order. */
function record(slots: Slots, users: readonly ('pass' | 'lane')[]): string[] {
  const served: string[] = []
  users.forEach((user, n) => {
    const taken = user === 'pass' ? slots.take() : new HeldSlot(slots, `${A}:${n}`).take(user)
    void taken.then(() => served.push(`${user} ${n}`))
  })
  return served
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('slots', () => {
  it('are taken at once while any is free', async () => {
    const slots = slotsOf(3)
    await slots.take()
    expect(slots.takeFree(5)).toBe(2)
    expect(slots.takeFree(5)).toBe(0)
    expect(slots.takeFree(1)).toBe(0)
  })

  it('go to passes and lanes in turn, in the order of arrival', async () => {
    const slots = slotsOf(1)
    await slots.take()
    const served = record(slots, ['lane', 'lane', 'lane', 'pass', 'pass'])
    slots.release(5)
    await turn()
    expect(served).toEqual(['pass 3', 'lane 0', 'pass 4', 'lane 1', 'lane 2'])
  })

  it('are free again if nobody waits', async () => {
    const slots = slotsOf(2)
    await slots.take()
    await slots.take()
    slots.release(2)
    expect(slots.takeFree(5)).toBe(2)
  })

  it('are taken up to as many as are wanted', () => {
    const slots = slotsOf(3)
    expect(slots.takeFree(1)).toBe(1)
    expect(slots.takeFree(1)).toBe(1)
    expect(slots.takeFree(5)).toBe(1)
  })

  it('go first to an operation that goes on', async () => {
    const slots = slotsOf(2)
    await slots.take()
    await slots.take()
    const waiting = slots.hold(A)
    waiting.release()
    await slots.take()
    const served = record(slots, ['pass', 'lane'])
    void waiting.take().then(() => served.push('operation'))
    slots.release(3)
    await turn()
    expect(served).toEqual(['operation', 'pass 0', 'lane 1'])
  })

  it('are given to others by an origin that is long without an answer, if somebody waits', async () => {
    const clock = manualClock()
    const slots = new Slots(2, clock)
    expect(slots.takeFree(2)).toBe(2)
    const long = [slots.hold(A), slots.hold(A)]
    await clock.advance(10 * LONG_MS)
    expect(slots.takeFree(1)).toBe(0)
    const served = record(slots, ['pass'])
    await turn()
    expect([served, [...slots.rooms()]]).toEqual([['pass 0'], [[A, 0]]])
    const other = slots.hold(B)
    for (const one of long) one.release()
    expect([[...slots.rooms()], slots.takeFree(5)]).toEqual([[], 1])
    slots.release()
    other.release()
    expect(slots.takeFree(5)).toBe(2)
  })

  it('are not given to others before that', async () => {
    const clock = manualClock()
    const slots = new Slots(1, clock)
    await slots.take()
    const held = slots.hold(A)
    const served = record(slots, ['pass'])
    await clock.advance(LONG_MS - 1)
    expect(served).toEqual([])
    await clock.advance(1)
    expect(served).toEqual(['pass 0'])
    expect(clock.pending()).toBe(0)
    slots.release()
    held.release()
    expect(slots.takeFree(5)).toBe(1)
  })

  it('are never more for one origin than there are', async () => {
    const clock = manualClock()
    const slots = new Slots(1, clock)
    await slots.take()
    const waiting = slots.hold(A)
    waiting.release()
    await slots.take()
    const long = slots.hold(A)
    const served = record(slots, ['pass'])
    await clock.advance(LONG_MS)
    expect(served).toEqual(['pass 0'])
    slots.release()
    expect(waiting.tryTake()).toBe(false)
    void waiting.take().then(() => served.push('operation'))
    await turn()
    expect(served).toEqual(['pass 0'])
    long.release()
    await turn()
    expect(served).toEqual(['pass 0', 'operation'])
  })

  it('go to lanes first while very many of them wait', async () => {
    const slots = slotsOf(1)
    await slots.take()
    const served = record(slots, ['pass', ...Array.from({ length: 1002 }, () => 'lane' as const)])
    slots.release(3)
    await turn()
    expect(served).toEqual(['lane 1', 'lane 2', 'pass 0'])
  })
})
