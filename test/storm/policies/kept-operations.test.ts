import { expect, it } from 'vitest'
import { VirtualTime } from '../virtual-time.ts'
import { KeptOperations } from './kept-operations.ts'
import type { Operation } from './policy.ts'

it('resumes so many kept operations at once and no more, in the order of acceptance', () => {
  const time = new VirtualTime()
  const finished: number[] = []
  let running = 0
  let most = 0
  const world = {
    get now() {
      return time.now
    },
    random: () => 0.5,
    after: (ms: number, run: () => void) => time.after(ms, run),
    send: () => {},
    settle: () => {},
    finish: ({ startedAt }: Operation) => void finished.push(startedAt),
  }
  const kept = new KeptOperations(world, { atOnce: 3 }, (_operation, ended) => {
    most = Math.max(most, ++running)
    time.after(100, () => {
      running--
      ended('succeeded')
    })
  })
  for (let startedAt = 0; startedAt < 20; startedAt++) {
    kept.keep({ startedAt, attempts: 0 }, { reason: 'budget', tried: false })
  }
  time.runUntil(10_000)
  expect(most).toBe(3)
  expect(finished).toEqual(Array.from({ length: 20 }, (_, index) => index))
})
