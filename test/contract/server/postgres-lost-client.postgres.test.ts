import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { claimed, effect, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

/** Terminates a backend from another thread, once what it was asked is done. */
const TERMINATOR = `
const { createRequire } = require('node:module')
const { workerData: { url, pid, flag, from } } = require('node:worker_threads')
const { Client } = createRequire(from)('pg')
const client = new Client({ connectionString: url })
client.connect()
  .then(() => { Atomics.store(flag, 0, 1); Atomics.notify(flag, 0); Atomics.wait(flag, 0, 1) })
  .then(() => client.query('SELECT pg_sleep(0.3), pg_terminate_backend($1, 5000)', [pid]))
  .then(() => client.end())
  .then(() => { Atomics.store(flag, 0, 3); Atomics.notify(flag, 0) })
`

it('survives a connection that is lost in the moment in which it is taken from the pool', async () => {
  const pool = scene.pool({ max: 1 })
  const ledger: PgLedger = postgresLedger({ pool, schema: scene.schema })
  const claim = await claimed(ledger)
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { url: scene.url, pid: rows[0]?.pid, flag, from: import.meta.url }
  const worker = new Worker(TERMINATOR, { eval: true, workerData })
  while (Atomics.load(flag, 0) !== 1) await new Promise((resolve) => setTimeout(resolve, 10))

  const before = pool.query('SELECT pg_sleep(0.1)')
  const waiting = effect(ledger, claim)
  // The statement is on its way; then this thread hears nothing until the backend is gone. What comes of it comes at once.
  await new Promise((resolve) => setTimeout(resolve, 20))
  Atomics.store(flag, 0, 2)
  Atomics.notify(flag, 0)
  Atomics.wait(flag, 0, 2, 20_000)

  await before
  await expect(waiting).rejects.toThrow(StorageError)
  expect(await scene.effects(claim.key)).toBe(0)
  await worker.terminate()
})
