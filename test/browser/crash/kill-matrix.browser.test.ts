import { expect, it } from 'vitest'
import { killRun } from './kill-run.ts'

const { TORTURE_KILLS, TORTURE_SEED } = process.env

const titles = [
  ['browser', 'a browser that is killed at each point of the write path, and opened again'],
  ['renderer', 'a tab that is killed at each point of the write path, beside one that lives'],
] as const

const NONE = {
  neverStruck: [],
  lost: [],
  doubled: [],
  changed: [],
  untold: [],
  misled: [],
  miscounted: [],
  unreached: [],
  unsettled: [],
  complaints: [],
}

it.each(titles)(
  '%s: nothing is lost and nothing done twice by %s',
  async (way) => {
    const seed = Number(TORTURE_SEED ?? Math.floor(Math.random() * 2 ** 31))
    const kills = TORTURE_KILLS ? Math.ceil(Number(TORTURE_KILLS) / titles.length) : undefined
    process.stdout.write(`${way} kills, seed ${seed}\n`)
    const onProgress = (line: string): void => void (kills && process.stdout.write(`${way}: ${line}\n`))
    const result = await killRun({ way, seed, kills, onProgress })
    process.stdout.write(`${JSON.stringify({ way, ...result })}\n`)
    const { operations, accepted, kills: killed, takeoversMs, blows: _, claims, ...faults } = result
    const again = TORTURE_KILLS
      ? `npm run torture:browser -- --kills ${TORTURE_KILLS} --seed ${seed}`
      : `TORTURE_SEED=${seed} npx vitest run --project browser test/browser/crash/kill-matrix`
    expect(faults, `To run it again: ${again}`).toEqual(NONE)
    expect(Object.keys(claims)).not.toEqual([])
    expect(accepted).toBeGreaterThan(killed)
    expect(Math.max(0, ...takeoversMs)).toBeLessThan(10_000)
    expect(operations).toBeGreaterThan(accepted)
  },
  TORTURE_KILLS ? 3_600_000 : 180_000,
)
