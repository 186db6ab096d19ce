import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { beforeAll } from 'vitest'
import type { RecordedAnswer } from '../../src/server/entry/entry.ts'
import type { Outcome, WorkOutcome } from '../../src/server/entry/outcome.ts'
import type { Claim, EntryDraft, LedgerStore, TransactOptions } from '../../src/server/ledger/port.ts'
import type { PostgresTransaction } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import { postgresLedger } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import { type PostgresScene, postgresScene } from './postgres.ts'

export type PgTransaction = PostgresTransaction<pg.Pool>
export type PgLedger = LedgerStore<PgTransaction>

export interface LedgerScene extends PostgresScene {
  /** A ledger on a pool of its own, as a replica would have it. */
  ledger(options?: pg.PoolConfig): PgLedger
  /** How often the business has done something under this name. */
  effects(name: string): Promise<number>
}

/** A schema with a ledger and with a table of charges beside it. To be called at the top of a file. */
export function ledgerScene(scene = postgresScene()): LedgerScene {
  beforeAll(() => scene.query('CREATE TABLE charges (name text NOT NULL, amount integer NOT NULL DEFAULT 1)'))
  return Object.assign(scene, {
    ledger: (options?: pg.PoolConfig): PgLedger => postgresLedger({ pool: scene.pool(options), schema: scene.schema }),
    effects: async (name: string) => {
      const rows = await scene.query<{ count: string }>('SELECT count(*) FROM charges WHERE name = $1', [name])
      return Number(rows[0]?.count)
    },
  })
}

export function draft(changes: Partial<EntryDraft> = {}): EntryDraft {
  return {
    scope: 'tenant-1',
    key: randomUUID(),
    fingerprint: 'f1',
    method: 'POST',
    path: '/charges',
    token: randomUUID(),
    external: false,
    durable: false,
    leaseMs: 60_000,
    retentionMs: 86_400_000,
    now: 0,
    ...changes,
  }
}

export function answer(text: string, changes: Partial<RecordedAnswer> = {}): RecordedAnswer {
  const body = new TextEncoder().encode(text)
  return { status: 201, headers: [['content-type', 'text/plain']], body, bodyOmitted: false, ...changes }
}

export function keep(text = 'charged'): WorkOutcome {
  return { kind: 'recorded', writes: 'committed', answer: answer(text) }
}

/** Takes a key that nobody has. */
export async function claimed(ledger: PgLedger, changes: Partial<EntryDraft> = {}): Promise<Claim> {
  const insertion = await ledger.insert(draft(changes))
  if (insertion.kind !== 'inserted') throw new Error('The key was taken')
  return insertion.claim
}

/** What a second request finds. */
export async function found(ledger: PgLedger, { key, scope }: Pick<Claim, 'key' | 'scope'>) {
  const insertion = await ledger.insert(draft({ key, scope }))
  if (insertion.kind !== 'found') throw new Error('The key was free')
  return insertion.found
}

export type Work = (tx: PgTransaction) => WorkOutcome | Promise<WorkOutcome>

/** The kind of outcome of an effect that charges once, does more where that is asked, and answers. */
export async function effect(
  ledger: PgLedger,
  claim: Claim | null,
  more: { work?: Work; options?: TransactOptions<PgTransaction>; leaseMs?: number; effectLeaseMs?: number } = {},
): Promise<Outcome['kind']> {
  const { work = () => keep(), options = {}, leaseMs, effectLeaseMs } = more
  const { kind } = await ledger.transact({
    claim,
    now: 0,
    leaseMs,
    effectLeaseMs,
    options,
    work: async (tx) => {
      await tx.query('INSERT INTO charges (name) VALUES ($1)', [claim?.key ?? 'no key'])
      return work(tx)
    },
  })
  return kind
}

/** Work that reports when it has begun, and goes on when it is told. */
export function heldWork(end: Work = () => keep()) {
  const begun = deferred<number>()
  const goOn = deferred<void>()
  const work: Work = async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    begun.resolve(rows[0]?.pid ?? 0)
    await goOn.promise
    return end(tx)
  }
  return { work, begun: begun.promise, goOn: () => goOn.resolve() }
}

export function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
