import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.ts'

const defaults = { seed: 7, workers: 2 }
const read = (line: string) => readArguments(line.split(' ').filter(Boolean), defaults)

describe('the command line of the simulation', () => {
  it.each([
    ['', { histories: 2000, seed: 7, workers: 2, trace: false, without: [], minutes: Number.POSITIVE_INFINITY }],
    ['--histories 1_000_000 --seed 3', { histories: 1_000_000, seed: 3 }],
    ['--minutes 2', { minutes: 2, histories: Number.MAX_SAFE_INTEGER }],
    ['--seed 9 --trace --without busy,crash', { histories: 1, trace: true, without: ['busy', 'crash'] }],
  ])('reads %j', (line, expected) => expect(read(line)).toMatchObject(expected))

  it.each([
    ['--histories many', '--histories takes a whole number from 1, not many'],
    ['--seed 0', '--seed takes a whole number from 1, not 0'],
    ['--minutes -1', '--minutes'],
    ['--minutes 0', '--minutes takes a number above 0, not 0'],
    ['--storeis 3', '--storeis'],
  ])('refuses %j', (line, sentence) => expect(() => read(line)).toThrow(sentence))

  it('says what it takes', () => expect(read('--help')).toBe('help'))
})

describe('npm run simulate', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', 'test/simulation/run.ts', ...args])

  it('tells how far it has come and what it met', { timeout: 300_000 }, async () => {
    const { stdout, stderr } = await run('--seed', '1', '--histories', '260', '--workers', '2')
    expect(stderr).toMatch(/260 of 260 histories, [\d,]+\/s, [\d,]+ crashes, [\d,]+ resumes, [\d,]+ retries, 0 failed/)
    expect(stdout).toContain('First seed: 1')
    expect(stdout).toMatch(/crash points: [a-z-]+:[a-z]+ \d+/)
    expect(stdout).toContain('No promise was broken.')
    expect(stdout).toContain('Again: npm run simulate -- --seed 1 --histories 260 --workers 2')
  })

  it('goes on where the run of its state file was', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-simulate-'))
    const state = join(folder, 'state.json')
    const sums = () => JSON.parse(readFileSync(state, 'utf8')).progress.sums
    try {
      await run('--seed', '5', '--histories', '5', '--state', state)
      expect(sums()).toMatchObject({ histories: 5 })
      const { stdout } = await run('--histories', '10', '--workers', '1', '--state', state)
      expect(stdout).toContain('First seed: 5\nDone before: 5 histories')
      expect(sums()).toMatchObject({ histories: 10 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('tells one history line by line', { timeout: 60_000 }, async () => {
    const { stdout } = await run('--seed', '12', '--trace')
    expect(stdout).toMatch(/0\.000 s {2}A1 {7}starts/)
    expect(stdout).toContain('calm: from here on nothing goes wrong')
  })

  it('ends with a sentence where it is asked for nonsense', { timeout: 60_000 }, async () => {
    await expect(run('--histories', 'many')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--minutes M'),
    })
  })
})
