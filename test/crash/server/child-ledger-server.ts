import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { systemClock } from '../../../src/foundation/clock.ts'
import { createLedger, type IdempotencyContext, json, type Reply } from '../../../src/server/index.ts'
import { type SqliteDatabase, sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { inputOf, say } from '../../support/child-voice.ts'

/** Where this process ends itself, the hard way. */
export type DeathPoint =
  | 'before the effect'
  | 'inside the effect'
  | 'after the commit'
  | 'during the reply'
  | 'after the call outside'

export interface LedgerServerInput {
  readonly db: string
  /** How the ledger gets at the file. */
  readonly form: 'database' | 'path'
  readonly dieAt?: DeathPoint | undefined
  /** The handler says `at` there, and goes on so many milliseconds later. */
  readonly pauseAt?: 'before the effect' | undefined
  readonly pauseMs?: number | undefined
  readonly lease?: string | undefined
  readonly storeTimeout?: string | undefined
  /** `external`: calls outside before it answers, and has no effect. `reconciled`: the same, and asks what happened. */
  readonly kind?: 'external' | 'reconciled' | undefined
}

const input = inputOf<LedgerServerInput>()
const { db, form, kind } = input
const database = new Database(db)
database.pragma('journal_mode = WAL')
database.exec('CREATE TABLE IF NOT EXISTS charges (key TEXT NOT NULL, pid INTEGER NOT NULL)')
database.exec('CREATE TABLE IF NOT EXISTS calls_outside (key TEXT NOT NULL)')

const ledger = createLedger<SqliteDatabase, Reply>({
  store: sqliteLedger(form === 'path' ? { path: db } : { database: database as SqliteDatabase }),
  scope: 'public',
  ...(input.lease ? { lease: input.lease as `${number}ms` } : {}),
  ...(input.storeTimeout ? { storeTimeout: input.storeTimeout as `${number}ms` } : {}),
})

function dieAt(point: DeathPoint): void {
  if (input.dieAt !== point) return
  say('dying', { point })
  process.kill(process.pid, 'SIGKILL')
  // The signal takes effect before anything else happens.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

async function charge(_: Request, { effect, key, attempt }: IdempotencyContext<SqliteDatabase, Reply>): Promise<Reply> {
  say('at', { key, attempt })
  if (input.pauseAt) await systemClock.sleep(input.pauseMs ?? 0)
  dieAt('before the effect')
  const answer = await effect((tx) => {
    tx.prepare('INSERT INTO charges VALUES (?, ?)').run(key, process.pid)
    dieAt('inside the effect')
    return json({ charged: key, by: process.pid }, { status: 201 })
  })
  dieAt('after the commit')
  return answer
}

/** The world outside has a table of its own, which no transaction of the ledger can take back. */
async function callOutside(_: Request, { key }: IdempotencyContext<SqliteDatabase, Reply>): Promise<Reply> {
  database.prepare('INSERT INTO calls_outside VALUES (?)').run(key)
  dieAt('after the call outside')
  return json({ called: key }, { status: 201 })
}

function askOutside({ key }: { readonly key: string }): Reply | 'rerun' {
  const known = database.prepare('SELECT 1 FROM calls_outside WHERE key = ?').get(key)
  return known ? json({ called: key }, { status: 201 }) : 'rerun'
}

const handler = kind
  ? ledger.protect(callOutside, { external: true, ...(kind === 'reconciled' ? { reconcile: askOutside } : {}) })
  : ledger.protect(charge)

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
  const url = `http://127.0.0.1${incoming.url}`
  const response = await handler(new Request(url, { method: 'POST', headers, body: Buffer.concat(chunks) }))
  const body = Buffer.from(await response.arrayBuffer())
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), 'content-length': body.length })
  if (input.dieAt === 'during the reply') {
    outgoing.write(body.subarray(0, 5), () => dieAt('during the reply'))
    return
  }
  outgoing.end(body)
}

const server = createServer((incoming, outgoing) => {
  serve(incoming, outgoing).catch((error: unknown) => {
    say('failed', { error: String(error) })
    outgoing.writeHead(500).end()
  })
})
server.listen(0, '127.0.0.1', () => say('listening', { port: (server.address() as AddressInfo).port }))
