import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { endAll } from '../support/child-process.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres-setup.ts'
import { faultsOf } from './faults-of.ts'
import { hunt } from './hunt.ts'
import { postgresPlace } from './postgres-place.ts'

/** One of its own for each try: the Postgres of the run is not ours to restart, and ids of an earlier hunt would be known. */
let postgres: RunningPostgres
beforeEach(async () => {
  postgres = await startPostgres()
})
afterEach(async () => {
  await endAll()
  await postgres.stop()
})

it('loses nothing, does nothing twice and tells the truth while the processes of a fleet and their Postgres break', async () => {
  const seed = Number(process.env.HUNT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`hunt seed ${seed}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-fleet-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const place = await postgresPlace(postgres, { processes: 4, hosts: 'one' })
  const result = await hunt({ folder, place, operations: 200, processes: 4, seed, killEvery: 8 })
  await place.stop()
  const { takeoverTimes } = result
  process.stdout.write(`${JSON.stringify({ ...result, slowestTakeoverMs: takeoverTimes.slowestMs })}\n`)
  const again = `HUNT_SEED=${seed} npx vitest run test/crash/fleet-hunt.postgres.test.ts`
  expect(faultsOf(result), `To run it again: ${again}`).toEqual([])
  expect(result.accepted).toBeGreaterThanOrEqual(200)
  expect(result.blows['Postgres restart']).toBe(3)
  expect(takeoverTimes.slowestMs).toBeGreaterThan(0)
}, 180_000)
