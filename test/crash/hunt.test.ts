import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { endAll } from '../support/child-process.ts'
import { faultsOf } from './faults-of.ts'
import { hunt } from './hunt.ts'
import { sqlitePlace } from './journal-place.ts'

/** The journal is in SQLite. */
const folder = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

it('loses nothing, does nothing twice and tells the truth while processes on one journal and their server are killed', async () => {
  const seed = Number(process.env.HUNT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`hunt seed ${seed}\n`)
  const result = await hunt({ folder, place: sqlitePlace(folder), operations: 100, processes: 4, seed, killEvery: 6 })
  process.stdout.write(`${JSON.stringify(result)}\n`)
  const again = `HUNT_SEED=${seed} npx vitest run test/crash/hunt.test.ts`
  expect(faultsOf(result), `To run it again: ${again}`).toEqual([])
  expect(result.claims).toMatchObject({ 'handler: succeeded, applied': expect.any(Number) })
  expect(result.accepted).toBeGreaterThanOrEqual(100)
  expect(result.takeovers).toBeGreaterThan(0)
}, 180_000)
