import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { aesGcm as asynchronous } from '../../../src/client/encryption/aes-gcm.ts'
import type { LedgerContractOptions } from '../../../src/testing/contracts/ledger/contract-case.ts'
import { ledgerContract } from '../../../src/testing/contracts/ledger-contract.ts'
import { encryptedContract } from '../../support/encrypted-contract.ts'
import { pgBouncerScene } from '../../support/pgbouncer-scene.ts'
import { type LedgerScene, ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

function onPostgres(scene: LedgerScene, options: pg.PoolConfig): LedgerContractOptions<PgTransaction> {
  return {
    open: async () => {
      const ledger = scene.ledger(options)
      await ledger.stats(0)
      await scene.query('TRUNCATE charges, holdfast_entries, holdfast_messages RESTART IDENTITY')
      return ledger
    },
    // With a connection of its own: while the only one of the first is in a transaction, it can't be asked.
    another: () => scene.ledger(options),
    effects: {
      write: async (tx, name) => void (await tx.query('INSERT INTO charges (name) VALUES ($1)', [name])),
      count: (name) => scene.effects(name),
    },
    inTransaction: async (_, work, end) => {
      const client = await scene.pool(options).connect()
      await client.query('BEGIN')
      try {
        await work(client)
        await client.query(end)
      } finally {
        client.release(true)
      }
    },
  }
}

// Serializable transactions may be refused for what their neighbours do: see the tests of isolation levels.
describe.each(['read committed', 'repeatable read'])('the ledger in Postgres, %s', (level) => {
  const scene = ledgerScene()
  const isolation = level.replace(' ', '\\ ')
  const settings = `-c search_path=${scene.schema} -c default_transaction_isolation=${isolation}`
  for (const { name, run } of ledgerContract(onPostgres(scene, { options: settings })))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger in Postgres, on one connection', () => {
  const scene = ledgerScene()
  const contract = ledgerContract(onPostgres(scene, { max: 1, connectionTimeoutMillis: 10_000 }))
  // While the only connection is in a transaction, nobody can look; they wait for their turn.
  for (const { name, run } of contract.filter(({ name }) => !name.startsWith('open transaction')))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger in Postgres, behind PgBouncer in transaction mode', () => {
  for (const { name, run } of ledgerContract(onPostgres(ledgerScene(pgBouncerScene()), {})))
    it(name, () => expect(run()).resolves.toBeUndefined())
})

describe('the ledger in Postgres, with encryption', () => {
  const scene = ledgerScene()
  const contract = ledgerContract(encryptedContract(onPostgres(scene, {}), asynchronous(new Uint8Array(32).fill(1))))
  for (const { name, run } of contract) it(name, () => expect(run()).resolves.toBeUndefined())
})
