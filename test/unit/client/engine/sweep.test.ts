import { describe, expect, it } from 'vitest'
import { Sweep } from '../../../../src/client/engine/recover/sweep.ts'

const A = 'https://a.example'
const B = 'https://b.example'

/** A sweep, and the origins that have no room now: some of theirs wait, or would for long. */
function scene() {
  const crowded = new Set<string>()
  const longHeld = new Set<string>()
  const sweep = new Sweep({
    heldOrigins: () => [...crowded, ...longHeld],
    isCrowded: (origin) => crowded.has(origin),
  })
  /** Claims the next stretch, up to this place. */
  const claimTo = (last: number): void => {
    const stretch = sweep.next()
    if (typeof stretch === 'string') throw new Error(stretch)
    sweep.reach(stretch, last)
  }
  return { sweep, crowded, longHeld, claimTo }
}

describe('a pass over the journal', () => {
  it('goes forward from place to place, and is over when a claim finds nothing', () => {
    const { sweep, claimTo } = scene()
    expect(sweep.next()).toEqual({ after: 0, exceptOrigins: [] })
    claimTo(10)
    expect(sweep.next()).toEqual({ after: 10, exceptOrigins: [] })
    claimTo(10)
    expect(sweep.next()).toBe('over')
  })

  it('passes over an origin without room, and comes back to it from there', () => {
    const { sweep, crowded, claimTo } = scene()
    claimTo(10)
    crowded.add(A)
    expect(new Set(claimedBut(sweep))).toEqual(new Set([A]))
    claimTo(20)
    claimTo(20)
    expect(sweep.next()).toBe('later')
    crowded.delete(A)
    expect(sweep.next()).toEqual({ after: 10, origins: [A], exceptOrigins: [] })
    claimTo(15)
    crowded.add(A)
    expect(sweep.next()).toBe('later')
    crowded.delete(A)
    expect(sweep.next()).toEqual({ after: 15, origins: [A], exceptOrigins: [] })
    claimTo(15)
    expect(sweep.next()).toBe('over')
  })

  it('claims nothing twice: an origin that was swept to its end is not met again behind the others', () => {
    const { sweep, crowded, claimTo } = scene()
    claimTo(10)
    crowded.add(A)
    sweep.next()
    crowded.delete(A)
    claimTo(90)
    claimTo(90)
    const stretch = sweep.next()
    expect(stretch).toMatchObject({ after: 10 })
    expect(claimedBut(sweep)).toContain(A)
    claimTo(20)
    claimTo(20)
    expect(sweep.next()).toBe('over')
  })

  it('claims nothing twice of an origin that was dropped on its own way', () => {
    const { sweep, crowded, longHeld, claimTo } = scene()
    crowded.add(A)
    sweep.next()
    crowded.delete(A)
    claimTo(50)
    longHeld.add(A)
    sweep.next()
    longHeld.delete(A)
    expect(sweep.next()).toMatchObject({ after: 0 })
    expect(claimedBut(sweep)).toContain(A)
  })

  it('leaves an origin that is held for long to a later pass', () => {
    const { sweep, crowded, longHeld, claimTo } = scene()
    longHeld.add(B)
    crowded.add(A)
    expect(new Set(claimedBut(sweep))).toEqual(new Set([A, B]))
    claimTo(5)
    claimTo(5)
    expect(sweep.next()).toBe('later')
    crowded.delete(A)
    longHeld.add(A)
    expect(sweep.next()).toBe('over')
  })
})

/** The origins that the next stretch, which is of all, leaves out. */
function claimedBut(sweep: Sweep): readonly string[] {
  const stretch = sweep.next()
  return typeof stretch === 'string' || stretch.origins ? [] : stretch.exceptOrigins
}
