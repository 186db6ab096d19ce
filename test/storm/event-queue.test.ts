import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { EventQueue } from './event-queue.ts'
import { VirtualTime } from './virtual-time.ts'

function drained(queue: EventQueue<number>): number[] {
  const items: number[] = []
  for (let item = queue.pop(); item !== undefined; item = queue.pop()) items.push(item)
  return items
}

describe('the event queue', () => {
  it('gives out what is earliest first', () => {
    const random = seededRandom(1)
    const queue = new EventQueue<number>()
    const times = Array.from({ length: 5000 }, () => Math.floor(random() * 1000) + random())
    for (const at of times) queue.push(at, at)
    expect(drained(queue)).toEqual([...times].sort((one, other) => one - other))
  })

  it('gives out what is equally early in the order in which it was put in', () => {
    const queue = new EventQueue<number>()
    for (let item = 0; item < 1000; item++) queue.push(item % 3, item)
    const expected = [0, 1, 2].flatMap((at) =>
      Array.from({ length: 1000 }, (_, item) => item).filter((n) => n % 3 === at),
    )
    expect(drained(queue)).toEqual(expected)
  })

  it('stays in order while it is filled and emptied in turns', () => {
    const random = seededRandom(2)
    const queue = new EventQueue<number>()
    let last = 0
    for (let turn = 0; turn < 5000; turn++) {
      queue.push(last + random() * 10, turn)
      if (random() < 0.5) queue.push(last + random() * 10, turn)
      const next = queue.nextAt ?? 0
      expect(next).toBeGreaterThanOrEqual(last)
      last = next
      queue.pop()
    }
  })

  it('refuses an event without a time', () => {
    expect(() => new EventQueue<number>().push(Number.NaN, 1)).toThrow('needs a time')
  })
})

describe('virtual time', () => {
  it('stands at the time of the event that happens, and stops where it is told to', () => {
    const time = new VirtualTime()
    const seen: number[] = []
    const note = (): void => void seen.push(time.now)
    time.after(20, note)
    time.after(10, () => {
      note()
      time.after(5, note)
      time.at(3, note)
    })
    time.after(31, note)
    time.runUntil(30)
    expect(seen).toEqual([10, 10, 15, 20])
    expect(time.now).toBe(30)
  })
})
