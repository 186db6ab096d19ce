import { expect, it } from 'vitest'
import { beats, type CostAndGain, frontOf } from './front.ts'

const point = (requests: number, success: number): CostAndGain => ({ requests, success })

it('to beat takes more success and fewer requests, by more than chance', () => {
  expect(beats(point(1, 0.9), point(2, 0.8))).toBe(true)
  expect(beats(point(1, 0.8), point(2, 0.8))).toBe(false)
  expect(beats(point(2, 0.9), point(2, 0.8))).toBe(false)
  expect(beats(point(1.9999, 0.9), point(2, 0.8))).toBe(false)
  expect(beats(point(1, 0.8001), point(2, 0.8))).toBe(false)
})

it('the front leads from the cheapest to the most successful, without those that another makes superfluous', () => {
  const front = [point(1, 0.5), point(1.5, 0.8), point(3, 0.99)]
  const behind = [point(1.5, 0.7), point(2, 0.8), point(4, 0.99)]
  expect(frontOf([...behind, ...front.toReversed()])).toEqual(front)
})

it('where nothing succeeds the front is the cheapest', () => {
  expect(frontOf([point(3, 0), point(1, 0), point(2, 0)])).toEqual([point(1, 0)])
})
