import { expect, it } from 'vitest'
import { TakeoverTimes } from './takeover-times.ts'

it('measures from the death of a process until another one resumes what it worked on', () => {
  const times = new TakeoverTimes()
  times.accepted('a', 1)
  times.accepted('b', 1)
  times.accepted('c', 2)
  times.died(1, 1000)
  times.resumed('a', 2, 4000)
  times.died(2, 5000)
  times.resumed('a', 3, 5500)
  times.resumed('b', 3, 31_000)
  expect(times).toMatchObject({ slowestMs: 30_000, medianMs: 3000 })
  expect(times.laterThan(29_000)).toBe(1)
})

it('counts neither what had come to its end nor a caller that joins what is still left alone', () => {
  const times = new TakeoverTimes()
  times.accepted('a', 1)
  times.dropped('a')
  times.accepted('b', 1)
  times.died(1, 1000)
  times.accepted('b', 2)
  times.resumed('a', 2, 2000)
  expect(times.slowestMs).toBe(0)
  times.resumed('b', 2, 3000)
  expect(times.slowestMs).toBe(2000)
})
