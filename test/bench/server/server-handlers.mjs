// The same handler twice for each store: with a ledger around it, and bare. Both write one row in one transaction.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createLedger, json, memoryLedger } from 'holdfast/server'
import { postgresLedger } from 'holdfast/server/postgres'
import { sqliteLedger } from 'holdfast/server/sqlite'
import pg from 'pg'

const ANSWER = { id: 'ch_1', status: 'created', note: 'x'.repeat(56) }
const created = () => json(ANSWER, { status: 201 })

/**
 * `ledger`, `guarded({ body, effect })` and `atomic({ body, tx })` for handlers with a ledger, `bare({ body })` for one
 * without: all give a reply.
 * `close` ends what was opened.
 */
export function openStore({ kind, directory, url }) {
  if (kind === 'memory') return memoryStore()
  return kind === 'sqlite' ? sqliteStore(directory) : postgresStore(url)
}

/** Nothing is written by either: all that is left is the guard. */
async function memoryStore() {
  return {
    ledger: createLedger({ store: memoryLedger(), scope: 'public' }),
    guarded: ({ effect }) => effect(created),
    atomic: created,
    bare: created,
    close: () => {},
  }
}

async function sqliteStore(directory) {
  mkdirSync(directory, { recursive: true })
  const open = (name) => {
    const database = new Database(join(directory, name))
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    database.exec('CREATE TABLE IF NOT EXISTS charges (id integer PRIMARY KEY, amount integer NOT NULL)')
    return database
  }
  // A file each, so that the one does not wait for the other's lock or checkpoint.
  const [guarded, bare] = [open('guarded.db'), open('bare.db')]
  const insert = 'INSERT INTO charges (amount) VALUES (?)'
  const statements = { guarded: guarded.prepare(insert), bare: bare.prepare(insert) }
  const write = bare.transaction((amount) => statements.bare.run(amount))
  return {
    ledger: createLedger({ store: sqliteLedger({ database: guarded }), scope: 'public' }),
    guarded: ({ body, effect }) =>
      effect(() => {
        statements.guarded.run(body.amount)
        return created()
      }),
    atomic: ({ body }) => {
      statements.guarded.run(body.amount)
      return created()
    },
    bare: ({ body }) => {
      write.immediate(body.amount)
      return created()
    },
    close: () => {
      guarded.close()
      bare.close()
    },
  }
}

async function postgresStore(url) {
  const pool = new pg.Pool({ connectionString: url, max: 16 })
  pool.on('error', () => {})
  await pool.query('CREATE TABLE IF NOT EXISTS charges (id bigserial PRIMARY KEY, amount integer NOT NULL)')
  const insert = (client, amount) => client.query('INSERT INTO charges (amount) VALUES ($1)', [amount])
  return {
    ledger: createLedger({ store: postgresLedger({ pool }), scope: 'public' }),
    guarded: ({ body, effect }) =>
      effect(async (tx) => {
        await insert(tx, body.amount)
        return created()
      }),
    atomic: async ({ body, tx }) => {
      await insert(tx, body.amount)
      return created()
    },
    bare: async ({ body }) => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await insert(client, body.amount)
        await client.query('COMMIT')
      } finally {
        client.release()
      }
      return created()
    },
    close: () => pool.end(),
  }
}
