import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import type { LedgerStore } from '../../../src/server/adapter/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { answer, COMMITTED, claimed, lease, transact } from '../../../src/testing/contracts/ledger/sample-entry.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-sync-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A ledger, and what is said to SQLite about waiting for the disk. */
async function listened(mode: string) {
  const said: string[] = []
  const verbose = (sql: unknown): void => void said.push(String(sql))
  const database = new Database(join(folder, `${++files}.db`), { verbose })
  database.pragma(`journal_mode = ${mode}`)
  const store = sqliteLedger({ database }) as unknown as LedgerStore
  await store.stats(0)
  const isLazy = async (action: () => Promise<unknown>): Promise<boolean> => {
    said.length = 0
    await action()
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    return said.some((sql) => /synchronous = 1/.test(sql))
  }
  return { store, isLazy }
}

describe('SQLite waits for the disk', () => {
  it('where an answer is recorded, and where work outside may begin; not for what a crash may take back', async () => {
    const { store, isLazy } = await listened('WAL')
    let claim = await claimed(store, 'first')
    expect(await isLazy(async () => (claim = await claimed(store, 'a')))).toBe(true)
    expect(await isLazy(() => store.renew(claim, lease(1000)))).toBe(true)
    expect(await isLazy(() => store.transact(transact(claim, () => COMMITTED)))).toBe(false)
    expect(await isLazy(async () => (claim = await claimed(store, 'b', { durable: true })))).toBe(false)
    expect(await isLazy(() => store.complete(claim, answer(), 0))).toBe(false)
    claim = await claimed(store, 'c', { durable: true })
    expect(await isLazy(() => store.abandon(claim, 0))).toBe(false)
    claim = await claimed(store, 'd')
    expect(await isLazy(() => store.release(claim))).toBe(true)
  })

  it('always, where a write that is not waited for could damage the file', async () => {
    const { store, isLazy } = await listened('DELETE')
    expect(await isLazy(() => claimed(store, 'a'))).toBe(false)
  })
})
