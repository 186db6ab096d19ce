import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RoundReport, reportText } from '../support/round-report.ts'
import { runRounds } from '../support/rounds.ts'
import { StateFile } from '../support/state-file.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-rounds-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A round that does nothing but report; it has a fault, or dies, at the seeds that it is told. */
const PROGRAM = `
process.once('message', ({ seed, input }) => {
  if (input.diesAt === seed) process.exit(7)
  const faults = input.faultsAt.includes(seed) ? ['operation 3 is lost'] : []
  const report = { seed, faults, blows: { kill: 2 }, notDealt: { cut: 'no wire' }, claims: {}, numbers: { pid: process.pid } }
  process.send({ report }, () => process.exit(0))
})
`

interface Input {
  readonly diesAt?: number
  readonly faultsAt: readonly number[]
}

function run(input: Input, rounds = 4): Promise<readonly RoundReport[]> {
  const program = join(folder, 'round.mjs')
  writeFileSync(program, PROGRAM)
  const state = new StateFile<readonly RoundReport[]>(join(folder, 'state.json'), { seed: 5, drawnSeed: 9, terms: {} })
  return runRounds({ program: new URL(`file://${program}`), input, rounds, workers: 2, state, onProgress: () => {} })
}

it('runs each round with the next seed in a process of its own', async () => {
  const reports = await run({ faultsAt: [] })
  expect(reports.map(({ seed }) => seed)).toEqual([5, 6, 7, 8])
  expect(new Set(reports.map(({ numbers }) => numbers.pid)).size).toBe(4)
})

it('goes on where an interrupted run was', async () => {
  await expect(run({ faultsAt: [], diesAt: 8 })).rejects.toThrow('The round with seed 8 ended with 7')
  const before = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')).progress as RoundReport[]
  expect(before.length).toBeGreaterThan(0)
  const reports = await run({ faultsAt: [] })
  expect(reports.map(({ seed }) => seed)).toEqual([5, 6, 7, 8])
  for (const one of before) expect(reports).toContainEqual(one)
})

it('stops where a third round has failed, and tells how to run each again', async () => {
  const reports = await run({ faultsAt: [5, 6, 7, 8, 9, 10, 11] }, 12)
  expect(reports.length).toBeLessThan(6)
  const text = reportText(reports, 'npm run hunt -- --seconds 3')
  expect(text).toContain('Seed 5:\noperation 3 is lost\nAgain: npm run hunt -- --seconds 3 --seed 5')
  expect(text).toMatch(/kill +\d+\n {2}cut: not dealt, no wire/)
})

it('takes the seed of its state file, and refuses to go on with another run', () => {
  const path = join(folder, 'state.json')
  const terms = { store: 'here' }
  expect(new StateFile(path, { seed: undefined, drawnSeed: 77, terms }).seed).toBe(77)
  expect(new StateFile(path, { seed: undefined, drawnSeed: 78, terms }).seed).toBe(77)
  expect(() => new StateFile(path, { seed: 78, drawnSeed: 79, terms })).toThrow('--seed 77, not 78')
  expect(() => new StateFile(path, { seed: undefined, drawnSeed: 79, terms: { store: 'there' } })).toThrow(
    '--store "here", not "there"',
  )
  writeFileSync(path, 'no JSON')
  expect(() => new StateFile(path, { seed: 1, drawnSeed: 2, terms })).toThrow('is not a state file of such a run')
})
