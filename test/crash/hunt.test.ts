import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { endAll } from '../support/child-process.ts'
import { hunt } from './hunt.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

it('loses nothing and does nothing twice while four processes on one journal are killed at random', async () => {
  const seed = Number(process.env.HUNT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`hunt seed ${seed}\n`)
  const result = await hunt({ folder, operations: 100, processes: 4, seed, killEvery: 6 })
  process.stdout.write(`${JSON.stringify(result)}\n`)
  expect(result).toMatchObject({ lost: 0, doubled: 0, changed: 0, untold: 0, failed: 0, falseClaims: 0 })
  expect(result.claims).toBeGreaterThan(0)
  expect(result.accepted).toBeGreaterThanOrEqual(100)
  expect(result.kills).toBeGreaterThan(3)
  expect(result.takeovers).toBeGreaterThan(0)
}, 180_000)
