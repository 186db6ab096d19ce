import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'

const BINARY = resolve('dist/cli/main.cjs')
const run = promisify(execFile)

/** The built program in a process of its own. */
const holdfast = (args: readonly string[], cwd: string): Promise<{ code: number; out: string; err: string }> =>
  run(process.execPath, [BINARY, ...args], { cwd, timeout: 30_000, env: { PATH: process.env.PATH } }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error) => ({ code: error.code as number, out: String(error.stdout), err: String(error.stderr) }),
  )

let folder = ''
beforeAll(() => {
  if (!existsSync(BINARY)) throw new Error('Nothing is built yet: npm run build')
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the program `holdfast`', () => {
  it('finds the default journal of a client beside it, and is not in the way of the client', async () => {
    const journal = sqliteJournal({ path: join(folder, '.holdfast/operations.db') })
    const client = createClient({
      baseUrl: 'https://api.test',
      journal,
      fetch: async () => Response.json({ charge: 7 }),
    })
    const call = client.post('/charges', { json: { amount: 5 }, id: 'order:1' })
    await call
    const [list, doctor] = await Promise.all([holdfast(['list', '--json'], folder), holdfast(['doctor'], folder)])
    expect(list).toMatchObject({ code: 0, err: '' })
    expect((JSON.parse(list.out) as { key: string }[]).map((operation) => operation.key)).toEqual([call.key])
    expect(doctor.out).toMatch(/^0 problems, 0 warnings$/m)
    expect(doctor.code).toBe(0)
    await client.post('/charges', { json: { amount: 7 } })
    await client.close()
    await journal.close()
  })

  it('ends with 1 where it refuses and with 2 where it is used wrongly', async () => {
    const [refused, wrong, help] = await Promise.all([
      holdfast(['list', '--db', 'typo.db'], folder),
      holdfast(['list', '--limit', 'many'], folder),
      holdfast(['--version'], folder),
    ])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(help).toEqual({ code: 0, out: `${version()}\n`, err: '' })
    expect(existsSync(join(folder, 'typo.db'))).toBe(false)
  })

  it('can be run by its name, and brings its libraries and their licences along', () => {
    expect(readFileSync(BINARY, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(statSync(BINARY).mode & 0o111).not.toBe(0)
    const licences = readFileSync('dist/cli/LICENCES.txt', 'utf8')
    for (const name of ['commander', 'cli-table3', 'nanospinner', 'picocolors', 'string-width']) {
      expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\((MIT|ISC)\\)$`, 'm'))
    }
    const built = ['main', 'libraries'].map((file) => readFileSync(`dist/cli/${file}.cjs`, 'utf8')).join('\n')
    expect(built).not.toMatch(/require\(["'](commander|cli-table3|nanospinner|picocolors|string-width)/)
  })
})

function version(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
}
