import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lanesOf, operationsOf, stepsOf } from '../../docs/site/components/history-steps.ts'
import { runHistory } from '../../src/testing/simulation/history.ts'
import { root } from './support/pages.ts'

describe('the page that plays a history', () => {
  it('begins with a seed that shows what it says: done once, killed with the answer, sent again', async () => {
    const page = readFileSync(join(root, 'docs/site/pages/try-history.md'), 'utf8')
    const seed = Number(/Seed (\d+) is a good one/.exec(page)?.[1])
    const { lines, broken } = await runHistory(seed, { traced: true })
    const steps = stepsOf(lines)
    const says = (what: RegExp): number => steps.findIndex((step) => what.test(step.what))
    expect(says(/^does op0/)).toBeGreaterThan(says(/^sends op0, request 1/))
    expect(says(/^is killed at send:answered/)).toBeGreaterThan(says(/^does op0/))
    expect(says(/^sends op0, request 2/)).toBeGreaterThan(says(/operation\.resumed/))
    expect(operationsOf(steps)[0]).toMatchObject({ label: 'op0', requests: 2, done: 1 })
    expect(broken).toEqual([])
    expect(readFileSync(join(root, 'docs/site/components/history-player.vue'), 'utf8')).toContain(`= ${seed}\n`)
  })

  it('reads every line of a history, and has a lane for each actor', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { lines } = await runHistory(seed, { traced: true })
      const steps = stepsOf(lines)
      expect(steps).toHaveLength(lines.filter((line) => !line.includes('reaper.passed')).length)
      const known = ['A', 'B', 'C', 'D', 'S', 'Z', 'stranger', 'disk', 'browser', 'network', 'server', 'world']
      expect(lanesOf(steps).filter((lane) => !known.includes(lane))).toEqual([])
    }
  })
})
