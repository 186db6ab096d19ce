import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll } from 'vitest'
import { endAll, type LineProcess } from '../../support/child-process.ts'
import { startProgram } from '../../support/child-program.ts'
import { hear } from '../crash-scene.ts'
import type { LedgerServerInput } from './child-ledger-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-ledger-crash-'))
let files = 0

afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

export interface LedgerServer {
  readonly process: LineProcess
  readonly origin: string
}

export interface Answered {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

export function newFile(): string {
  return join(folder, `${++files}.db`)
}

export async function startServer(input: LedgerServerInput): Promise<LedgerServer> {
  const process = await startProgram('../crash/server/child-ledger-server', input)
  const { port } = await hear(process, 'listening')
  return { process, origin: `http://127.0.0.1:${port}` }
}

/** The answer, or undefined where the connection broke before its end. */
export async function charge(server: LedgerServer, key: string): Promise<Answered | undefined> {
  try {
    const headers = { 'idempotency-key': key, 'content-type': 'application/json', connection: 'close' }
    const response = await fetch(`${server.origin}/charges`, { method: 'POST', headers, body: '{"amount":5}' })
    const body = await response.text()
    return { status: response.status, body, replayed: response.headers.get('idempotency-replayed') === 'true' }
  } catch {
    return undefined
  }
}

/** Asks until the answer is not "come back later". */
export async function chargeInTheEnd(server: LedgerServer, key: string): Promise<Answered | undefined> {
  for (;;) {
    const answered = await charge(server, key)
    if (answered && ![409, 503].includes(answered.status)) return answered
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** What was really done, counted on a connection of the judge's own. */
export function count(file: string, table: 'charges' | 'calls_outside', key: string): number {
  const database = new Database(file, { readonly: true })
  const row = database.prepare(`SELECT count(*) AS n FROM ${table} WHERE key = ?`).get(key) as { readonly n: number }
  database.close()
  return row.n
}
