import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLedger, json } from '../../src/server/index.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { ask } from '../support/protected-shop.ts'
import { cli, parsed } from './support/run-cli.ts'

let folder = ''
let path = ''
let database: Database.Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
  path = join(folder, 'shop.db')
  database = new Database(path)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** One entry that is done, and one of a handler that can't say what it did outside. */
async function fillLedger() {
  const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'acme', retention: '2h' })
  const charge = ledger.protect(async () => json({ charge: 7 }, { status: 201 }))
  const external = ledger.protect(
    async () => {
      throw new Error('the provider did not answer')
    },
    { external: true },
  )
  await charge(ask('key-done'))
  await external(ask('key-unknown')).catch(() => {})
  return { ledger, charge }
}

describe('entries', () => {
  it('lists the entries of a ledger, without tokens and bodies', async () => {
    await fillLedger()
    const { code, out } = await cli(['entries', '--db', path])
    expect(code).toBe(0)
    expect(out).toMatch(/^SCOPE +KEY +STATE +CREATED +TRIES +REQUEST +NOTE$/m)
    expect(out).toMatch(/^acme +key-done +done .* POST \/orders +201$/m)
    expect(out).toMatch(/^acme +key-unknown +unknown .* since now$/m)
    const listed = await cli(['entries', '--db', path, '--state', 'unknown', '--json'])
    expect(parsed<object[]>(listed)).toEqual([expect.objectContaining({ scope: 'acme', key: 'key-unknown' })])
    expect(listed.out).not.toMatch(/token|fingerprint/)
    expect((await cli(['entries', '--db', path, '--scope', 'nobody'])).err).toMatch(/No such entry/)
  })

  it('shows control characters as what they are', async () => {
    const { ledger } = await fillLedger()
    await ledger.once('m', () => 1, { scope: 's' })
    database.prepare("UPDATE holdfast_entries SET scope = 'a\u001b[2Jb'").run()
    const { out } = await cli(['entries', '--db', path])
    expect(out).not.toContain('\u001b')
    expect(out).toContain('a\ufffd[2Jb')
  })
})

describe('resolve', () => {
  it('records an answer for what was done: every retry gets it', async () => {
    const { charge } = await fillLedger()
    const body = join(folder, 'answer.json')
    writeFileSync(body, '{"charge":9}')
    const args = ['resolve', 'acme', 'key-unknown', '--db', path, '--done', '201', '--body', body]
    const { code, out } = await cli([...args, '--header', 'Content-Type: application/json'])
    expect({ code, out }).toEqual({ code: 0, out: 'key-unknown of acme resolved as done: retries get 201\n' })
    const replay = await charge(ask('key-unknown'))
    expect(replay.status).toBe(201)
    expect(await replay.json()).toEqual({ charge: 9 })
    const kept = database.prepare(
      "SELECT expires_at - created_at AS ms FROM holdfast_entries WHERE key = 'key-unknown'",
    )
    // Of its ledger, less or more the time since.
    expect((kept.get() as { ms: number }).ms / 3_600_000).toBeCloseTo(2, 1)
  })

  it('frees the key of what was not done: the next retry runs', async () => {
    const { charge } = await fillLedger()
    expect(await cli(['resolve', 'acme', 'key-unknown', '--db', path, '--not-done'])).toMatchObject({ code: 0 })
    expect(await (await charge(ask('key-unknown'))).json()).toEqual({ charge: 7 })
  })

  it.each([
    ['key-done', /is done, not unknown/],
    ['key-missing', /has no entry key-missing/],
  ])('refuses %s', async (key, message) => {
    await fillLedger()
    const { code, err } = await cli(['resolve', 'acme', key, '--db', path, '--not-done'])
    expect(code).toBe(1)
    expect(err).toMatch(message)
  })
})

describe('migrate', () => {
  it("makes a ledger's tables in a database without any, and then has nothing to do", async () => {
    database.exec('CREATE TABLE shop (id INTEGER)')
    expect((await cli(['migrate', '--db', path])).out).toBe('ledger: made, version 1\n')
    expect((await cli(['migrate', '--db', path])).out).toBe('ledger: version 1 already\n')
    expect(parsed(await cli(['migrate', '--db', path, '--tables', 'journal', '--json']))).toEqual([
      { component: 'journal', from: 0, to: 3 },
    ])
    expect(database.pragma('journal_mode', { simple: true })).toBe('delete')
  })

  it('is what other commands ask for where the tables are of an older version', async () => {
    await cli(['migrate', '--db', path, '--tables', 'journal'])
    database.exec("DELETE FROM holdfast_migrations WHERE component = 'journal' AND version = 3")
    const { code, err } = await cli(['list', '--db', path])
    expect(code).toBe(1)
    expect(err).toMatch(/of version 2, and this command line needs version 3: run `holdfast migrate`/)
  })

  it('leaves tables of a newer version alone, as every command does', async () => {
    await fillLedger()
    database.exec("INSERT INTO holdfast_migrations VALUES ('ledger', 99)")
    for (const command of ['migrate', 'entries', 'stats', 'prune']) {
      const { code, err } = await cli([command, '--db', path])
      expect(code).toBe(1)
      expect(err).toMatch(/newer Holdfast/)
    }
  })
})

describe('stats and prune', () => {
  it('know a ledger', async () => {
    await fillLedger()
    expect(parsed(await cli(['stats', '--db', path, '--json']))).toMatchObject({
      ledger: { running: 0, done: 1, unknown: 1, messages: 0 },
    })
    database.exec('UPDATE holdfast_entries SET expires_at = 1')
    expect((await cli(['prune', '--db', path])).out).toBe('ledger: 1 row deleted\n')
    expect(parsed(await cli(['stats', '--db', path, '--json']))).toMatchObject({ ledger: { done: 0, unknown: 1 } })
  })
})
