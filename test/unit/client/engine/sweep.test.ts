import { describe, expect, it } from 'vitest'
import { Sweep } from '../../../../src/client/engine/recover/sweep.ts'
import type { Room } from '../../../../src/client/gate/gates.ts'

const A = 'https://a.example'
const B = 'https://b.example'
const ALL = Number.POSITIVE_INFINITY

/** A sweep, and the origins that have little room now. */
function scene() {
  const rooms = new Map<string, Room>()
  const own = new Map<string, number>()
  const sweep = new Sweep({ rooms: () => rooms }, { rooms: () => own })
  /** Claims the next stretch, up to this place. */
  const claimTo = (last: number): void => {
    const stretch = sweep.next()
    if (typeof stretch === 'string') throw new Error(stretch)
    sweep.reach(stretch, last)
  }
  return { sweep, rooms, own, claimTo }
}

describe('a pass over the journal', () => {
  it('goes forward from place to place, and is over when a claim finds nothing', () => {
    const { sweep, claimTo } = scene()
    expect(sweep.next()).toEqual({ after: 0, exceptOrigins: [], most: ALL })
    claimTo(10)
    expect(sweep.next()).toEqual({ after: 10, exceptOrigins: [], most: ALL })
    claimTo(10)
    expect(sweep.next()).toBe('over')
  })

  it('passes over an origin without room, and comes back to it from there', () => {
    const { sweep, rooms, claimTo } = scene()
    claimTo(10)
    rooms.set(A, 'full')
    expect(passedOver(sweep)).toEqual([A])
    claimTo(20)
    claimTo(20)
    expect(sweep.next()).toBe('later')
    rooms.delete(A)
    expect(sweep.next()).toEqual({ after: 10, origins: [A], exceptOrigins: [], most: ALL })
    claimTo(15)
    rooms.set(A, 'full')
    expect(sweep.next()).toBe('later')
    rooms.delete(A)
    expect(sweep.next()).toEqual({ after: 15, origins: [A], exceptOrigins: [], most: ALL })
    claimTo(15)
    expect(sweep.next()).toBe('over')
  })

  it('takes one at a time of an origin that has to be spared, beside all of the others', () => {
    const { sweep, rooms, claimTo } = scene()
    rooms.set(A, 'one')
    expect(sweep.next()).toEqual({ after: 0, origins: [A], exceptOrigins: [], most: 1 })
    claimTo(3)
    rooms.set(A, 'full')
    expect(sweep.next()).toEqual({ after: 0, exceptOrigins: [A], most: ALL })
    claimTo(20)
    rooms.set(A, 'one')
    expect(sweep.next()).toEqual({ after: 3, origins: [A], exceptOrigins: [], most: 1 })
    claimTo(3)
    claimTo(20)
    expect(sweep.next()).toBe('over')
  })

  it('takes no more of an origin than its own slots allow', () => {
    const { sweep, rooms, own, claimTo } = scene()
    own.set(A, 3)
    expect(sweep.next()).toEqual({ after: 0, origins: [A], exceptOrigins: [], most: 3 })
    claimTo(3)
    own.set(A, 0)
    expect(passedOver(sweep)).toEqual([A])
    rooms.set(A, 'one')
    own.set(A, 2)
    claimTo(20)
    expect(sweep.next()).toMatchObject({ origins: [A], most: 1 })
  })

  it('gives all of the others every second turn, however many origins have to be spared', () => {
    const { sweep, rooms, claimTo } = scene()
    for (let n = 0; n < 1000; n++) rooms.set(`https://${n}.example`, 'one')
    for (let place = 1; place <= 3; place++) {
      expect(sweep.next()).toMatchObject({ after: place === 1 ? 0 : 100 + place - 1, most: 1 })
      claimTo(100 + place)
      expect(sweep.next()).toMatchObject({ after: 10 * (place - 1), most: ALL })
      claimTo(10 * place)
    }
  })

  it('claims nothing twice: an origin that was swept to its end is not met again behind the others', () => {
    const { sweep, rooms, claimTo } = scene()
    claimTo(10)
    rooms.set(A, 'full')
    sweep.next()
    rooms.delete(A)
    claimTo(90)
    claimTo(12)
    claimTo(90)
    expect(sweep.next()).toMatchObject({ after: 12 })
    expect(passedOver(sweep)).toEqual([A])
    claimTo(20)
    claimTo(20)
    expect(sweep.next()).toBe('over')
  })

  it('claims nothing twice of an origin that was dropped on its own way', () => {
    const { sweep, rooms, claimTo } = scene()
    rooms.set(A, 'full')
    sweep.next()
    rooms.delete(A)
    claimTo(50)
    rooms.set(A, 'full for long')
    sweep.next()
    rooms.delete(A)
    expect(sweep.next()).toMatchObject({ after: 0 })
    expect(passedOver(sweep)).toEqual([A])
  })

  it('leaves an origin that is held for long to a later pass', () => {
    const { sweep, rooms, claimTo } = scene()
    rooms.set(B, 'full for long')
    rooms.set(A, 'full')
    expect(new Set(passedOver(sweep))).toEqual(new Set([A, B]))
    claimTo(5)
    claimTo(5)
    expect(sweep.next()).toBe('later')
    rooms.set(A, 'full for long')
    expect(sweep.next()).toBe('over')
  })
})

/** The origins that the next stretch, which is of all, leaves out. */
function passedOver(sweep: Sweep): readonly string[] {
  const stretch = sweep.next()
  return typeof stretch === 'string' || stretch.origins ? [] : stretch.exceptOrigins
}
