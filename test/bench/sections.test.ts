import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readResults, SECTIONS } from './results.ts'
import { expectNumbers, runQuickly } from './support/quick-run.ts'

/**
 * `browser`, `server`, `growth` and `scale` have tests where there is a browser and a Postgres; `get` is what the command is
 * tested with. `fleet` installs its peers first.
 */
const ELSEWHERE = ['browser', 'server', 'growth', 'scale', 'fleet', 'get']
const here = SECTIONS.filter((section) => !ELSEWHERE.includes(section))

describe('each section of the benchmark, with SQLite where it has a journal', () => {
  it.each(here)('measures: %s', async (section) => {
    expectNumbers(await runQuickly(section))
  })
})

describe('the command', () => {
  it('prints a table, and writes every number into a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const json = join(folder, 'numbers.json')
    const args = ['--import', 'tsx', 'test/bench/run.ts', '--quick', '--only', 'get', '--json', json]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    expect(stdout).toMatch(/\| Holdfast \| \d+\.\d+ /)
    expect(stderr).toContain('GET, 64 at once: round 1 of 1')
    const { get } = readResults(json)
    expect(get?.quick).toBe(true)
    expectNumbers(get ?? {})
  })

  it('says what is wrong with its arguments', async () => {
    const args = ['--import', 'tsx', 'test/bench/run.ts', '--only', 'put']
    const failure = promisify(execFile)(process.execPath, args)
    await expect(failure).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no section "put"'),
    })
  })
})
