import { beforeAll, describe, expect, it } from 'vitest'
import { startProgram } from '../support/child-program.ts'
import { crashScene, hear } from './crash-scene.ts'

const scene = crashScene()

interface Measured {
  readonly before: number
  readonly peak: number
  readonly seconds: number
  readonly report: { readonly succeeded: number }
}

/** 10 is the full size: 10,000 pending, 100,000 settled. */
const SCALE = Number(process.env.MEMORY_SCALE ?? 2)

async function measure(pending: number, settled: number): Promise<Measured> {
  const { db } = scene.place()
  const { origin } = await scene.server
  const child = await startProgram('child-memory', { origin, db, pending, settled }, { nodeOptions: ['--expose-gc'] })
  const measured = (await hear(child, 'measured')) as unknown as Measured
  await child.ended
  const megabytes = (value: number): string => `${value.toFixed(1)} MB`
  process.stdout.write(
    `${pending} pending, ${settled} settled: ${megabytes(measured.before)} before, ${megabytes(measured.peak)} at the most, ${measured.seconds.toFixed(1)} s\n`,
  )
  expect(measured.report.succeeded).toBe(pending)
  return measured
}

describe('the memory of a resume', () => {
  let little: Measured
  beforeAll(async () => {
    little = await measure(100 * SCALE, 0)
  }, 120_000)

  it('does not grow with what is pending', async () => {
    const much = await measure(1000 * SCALE, 0)
    expect(much.peak - much.before).toBeLessThan(Math.max(2 * (little.peak - little.before), 3))
  }, 300_000)

  it('does not grow with what was ever done', async () => {
    const long = await measure(100 * SCALE, 10_000 * SCALE)
    expect(long.peak - long.before).toBeLessThan(Math.max(2 * (little.peak - little.before), 3))
  }, 300_000)
})
