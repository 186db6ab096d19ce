import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createLedger, json } from '../../src/server/index.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { ask } from '../support/protected-shop.ts'
import { fill, type JournalFile, journalFiles, refused } from './support/journal-file.ts'
import { cli, parsed } from './support/run-cli.ts'

const files = journalFiles()

interface Finding {
  readonly check: string
  readonly level: string
  readonly found: string
  readonly advice?: string
}

/** The findings that are not fine, and the exit code. */
async function examine({ path }: Pick<JournalFile, 'path'>) {
  const result = await cli(['doctor', '--db', path, '--json'])
  const { findings } = parsed<{ findings: Finding[] }>(result)
  return { code: result.code, faults: findings.filter(({ level }) => level !== 'ok'), findings }
}

const checksOf = (faults: readonly Finding[]): string[] => faults.map(({ check, level }) => `${level} ${check}`)

describe('doctor', () => {
  it('finds nothing wrong with a healthy journal', async () => {
    const file = files.newJournal()
    await file.client(() => Response.json({})).post('/charges', { json: 1 })
    for (const end of ['', '-wal', '-shm']) chmodSync(`${file.path}${end}`, 0o600)
    const { code, faults, findings } = await examine(file)
    expect({ code, faults }).toEqual({ code: 0, faults: [] })
    expect(findings.map(({ check }) => check)).toEqual([
      'integrity',
      'permissions',
      'durability',
      'journal schema',
      'operations',
    ])
    const { out } = await cli(['doctor', '--db', file.path])
    expect(out).toMatch(/^ok {2}integrity {7}whole/m)
    expect(out).toMatch(/^0 problems, 0 warnings$/m)
  })

  it('finds files that others can read, dead letters, and settlements without a handler', async () => {
    const file = files.newJournal()
    chmodSync(file.path, 0o644)
    await fill(file)
    const { code, faults } = await examine(file)
    expect({ code, checks: checksOf(faults) }).toEqual({
      code: 0,
      checks: ['warning permissions', 'warning dead letters', 'warning handlers'],
    })
    expect(faults[0]?.advice).toContain(`chmod 600 ${file.path}`)
  })

  it('finds operations that no process resumes, of every namespace', async () => {
    const file = files.newJournal()
    const client = file.client(refused, { namespace: 'billing', honoursKeys: true })
    const call = client.post('/charges', { json: 1, onGiveUp: 'keep' })
    await call.catch(() => {})
    file.database.exec('UPDATE holdfast_operations SET due_at = 1, lease_until = 0')
    await patchHeads(file, { acceptedAt: Date.now() - 3_600_000 })
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(faults.filter(({ level }) => level === 'problem')).toEqual([
      expect.objectContaining({ check: 'unattended', found: expect.stringContaining(call.key) }),
    ])
  })

  it('finds what is parked, what expires soon, and a lease that ends in the far future', async () => {
    const file = files.newJournal()
    const client = file.client(refused, { honoursKeys: true })
    for (const id of ['a', 'b', 'c']) await client.post('/charges', { json: 1, id, onGiveUp: 'keep' }).catch(() => {})
    await patchHeads(file, { heldBy: 'poison' }, 'a')
    await patchHeads(file, { horizonAt: Date.now() + 600_000 }, 'b')
    file.database.exec(
      `UPDATE holdfast_operations SET owner = 'elsewhere|1|0|x', lease_until = ${Date.now() + 9e8} WHERE id = 'c'`,
    )
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(checksOf(faults)).toEqual(expect.arrayContaining(['problem parked', 'warning expiring', 'problem leases']))
  })

  it.each(['head', 'status'])('finds records that cannot be read, for their %s', async (column) => {
    const file = files.newJournal()
    await fill(file)
    file.database.exec(`UPDATE holdfast_operations SET ${column} = '{' WHERE status = 'pending'`)
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(checksOf(faults)).toContain('problem records')
    const { err } = await cli(['list', '--db', file.path])
    expect(err).toMatch(/1 more can't be read/)
  })

  it('finds a damaged file', async () => {
    const file = files.newJournal()
    await fill(file)
    file.database.pragma('wal_checkpoint(TRUNCATE)')
    const bytes = readFileSync(file.path)
    const { rootpage } = file.database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'holdfast_operations_key'")
      .get() as { rootpage: number }
    bytes.fill(7, (rootpage - 1) * 4096 + 100, rootpage * 4096)
    writeFileSync(file.path, bytes)
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(faults[0]).toMatchObject({ check: 'integrity', level: 'problem' })
    expect(faults[0]?.advice).toMatch(/\.recover/)
  })

  it('goes on where a check fails', async () => {
    const file = files.newJournal()
    await fill(file)
    file.database.exec('DROP TABLE holdfast_bodies')
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(faults.at(-1)).toMatchObject({
      check: 'journal',
      level: 'problem',
      found: expect.stringMatching(/no such table/),
    })
  })

  it('finds tables of another version, and a database that has none', async () => {
    const file = files.newJournal()
    await fill(file)
    file.database.exec("DELETE FROM holdfast_migrations WHERE component = 'journal' AND version > 1")
    const old = await examine(file)
    expect(old.code).toBe(1)
    expect(old.faults).toContainEqual(
      expect.objectContaining({ check: 'journal schema', advice: 'run `holdfast migrate`' }),
    )
    const path = files.newPath()
    new Database(path).exec('CREATE TABLE shop (id)').close()
    const none = await examine({ path })
    expect(none.code).toBe(1)
    expect(checksOf(none.faults)).toContain('problem schema')
  })

  it('finds unknown entries, a reaper that is off, and claims of dead handlers in a ledger', async () => {
    const file = files.newJournal()
    const { database } = file
    const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'acme' })
    const charge = ledger.protect(async () => json({ charge: 7 }, { status: 201 }))
    for (const key of ['one', 'two', 'three']) await charge(ask(key))
    const hourAgo = Date.now() - 2 * 3_600_000
    const set = (columns: string, key: string): unknown =>
      database.exec(`UPDATE holdfast_entries SET ${columns} WHERE key = '${key}'`)
    const without = 'status = NULL, headers = NULL, completed_at = NULL'
    set(`state = 'unknown', unknown_since = ${hourAgo}, ${without}`, 'one')
    set(`expires_at = ${hourAgo}`, 'two')
    set(`state = 'running', lease_until = ${hourAgo}, ${without}`, 'three')
    const { code, faults } = await examine(file)
    expect(code).toBe(1)
    expect(checksOf(faults)).toEqual(
      expect.arrayContaining(['problem unknown entries', 'warning reaper', 'warning claims']),
    )
    expect(faults.find(({ check }) => check === 'reaper')?.found).toBe('off: entries outlive their retention by 2h')
  })
})

/** Changes what a record says of itself. */
async function patchHeads({ database }: JournalFile, change: object, id?: string): Promise<void> {
  const where = id === undefined ? "status = 'pending'" : `id = '${id}'`
  const rows = database.prepare(`SELECT place, head FROM holdfast_operations WHERE ${where}`).all()
  for (const { place, head } of rows as { place: number; head: string }[]) {
    const patched = JSON.stringify({ ...(JSON.parse(head) as object), ...change })
    database.prepare('UPDATE holdfast_operations SET head = ? WHERE place = ?').run(patched, place)
  }
}
