import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, it } from 'vitest'
import { endAll } from '../support/child-process.ts'
import { postgresBackstage } from './backstage.ts'
import { hunt } from './hunt.ts'

/** The client's journal is in SQLite, the server's ledger in Postgres. */
const folder = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

it('does each operation once and answers it alike, while both halves, the network and Postgres break at random', async () => {
  const seed = Number(process.env.HUNT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`hunt seed ${seed}\n`)
  const backstage = await postgresBackstage(inject('postgresUrl'), `holdfast_hunt_${process.pid}`)
  const result = await hunt({ folder, backstage, seed, seconds: 10, operations: 60 })
  await backstage.close()
  process.stdout.write(`${JSON.stringify(result)}\n`)
  expect(result.complaints).toEqual([])
  expect(result).toMatchObject({
    lost: 0,
    doubled: 0,
    untold: 0,
    wrongAnswers: 0,
    unfinished: 0,
    crashes: 0,
    falseClaims: 0,
  })
  expect(result.accepted).toBeGreaterThanOrEqual(60)
  const { clientKills, serverKills, storeBlows, cuts, doubledRequests } = result
  // Which of them come, and how often, is left to the dice and to how busy the machine is.
  expect(clientKills + serverKills + storeBlows).toBeGreaterThan(0)
  expect(cuts + doubledRequests).toBeGreaterThan(0)
}, 180_000)
