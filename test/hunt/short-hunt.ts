import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { endAll } from '../support/child-process.ts'
import type { Backstage } from './backstage.ts'
import { faultsOf } from './faults-of.ts'
import { type HuntResult, hunt } from './hunt.ts'

/** A hunt of ten seconds in which every blow that its store has strikes at least once. */
export async function shortHunt(file: string, open: (folder: string) => Promise<Backstage>): Promise<HuntResult> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
  const seed = Number(process.env.HUNT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const again = `HUNT_SEED=${seed} npx vitest run ${file}`
  process.stdout.write(`hunt seed ${seed}\n`)
  try {
    const backstage = await open(folder)
    const result = await hunt({ folder, backstage, seed, seconds: 10, operations: 60 })
    await backstage.close()
    process.stdout.write(`${JSON.stringify(result)}\n`)
    expect(faultsOf(result), `To run it again: ${again}`).toEqual([])
    return result
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}
