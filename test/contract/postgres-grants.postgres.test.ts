import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { migratePostgresJournal, postgresJournal } from '../../src/postgres/index.ts'
import { createLedger, json } from '../../src/server/index.ts'
import { migratePostgresLedger, postgresLedger } from '../../src/server/postgres/index.ts'
import { append, list } from '../../src/testing/contracts/journal/sample-row.ts'

const name = `holdfast_grants_${process.pid}`
const role = `${name}_role`
const guide = new URL('../../docs/guides/operating-the-ledger.md', import.meta.url)

function place(user: { readonly name: string; readonly password: string } | undefined, database: string): string {
  const url = new URL(inject('postgresUrl'))
  url.pathname = database
  if (user) Object.assign(url, { username: user.name, password: user.password })
  return url.href
}

async function administer(statement: string, database = new URL(inject('postgresUrl')).pathname.slice(1)) {
  const client = new pg.Client(place(undefined, database))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** As the guide has them, for a role of another name. */
function grants(): string {
  const [, block = ''] = /```sql\n(GRANT USAGE[^`]*)```/.exec(readFileSync(guide, 'utf8')) ?? []
  return block.replaceAll('app_role', role)
}

const password = randomUUID()
let pool: pg.Pool

/** Nothing is granted to everybody: neither functions, nor the schema that every database begins with. */
beforeAll(async () => {
  await administer(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  await administer(`CREATE DATABASE ${name}`)
  await administer(
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC;
    ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO ${role};
    CREATE SCHEMA shop AUTHORIZATION ${role}; CREATE TABLE shop.charges (name text); ALTER TABLE shop.charges OWNER TO ${role}`,
    name,
  )
  const admin = { connectionString: place(undefined, name) }
  await migratePostgresLedger(admin)
  await migratePostgresJournal(admin)
  pool = new pg.Pool({ connectionString: place({ name: role, password }, name) })
})

afterAll(async () => {
  await pool?.end()
  await administer(`DROP DATABASE ${name} WITH (FORCE)`)
  await administer(`DROP ROLE ${role}`)
})

describe('on a database that grants nothing to everybody', () => {
  const ask = (key: string) => new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } })
  const opened = () => createLedger({ store: postgresLedger({ pool, migrate: false }), scope: 'public' })
  const charge = async (tx: Pick<pg.PoolClient, 'query'>) =>
    void (await tx.query("INSERT INTO shop.charges VALUES ('x')"))

  it('a role without the grants of the guide is refused', async () => {
    const ledger = opened()
    const handler = ledger.protect(() => json({}))
    expect((await handler(ask('before'))).status).toBe(503)
    await ledger.close()
  })

  it('the grants of the guide are enough for all that a ledger and a journal do', async () => {
    await administer(grants(), name)
    const ledger = opened()
    const handlers = [
      ledger.protect(() => json({})),
      ledger.protect((_, { effect }) => effect((tx) => charge(tx).then(() => json({})))),
      ledger.protect((_, { effect }) => effect((tx) => charge(tx).then(() => json({}, { status: 402 })))),
      ledger.protect(() => json({}, { status: 503 }), { external: true }),
      ledger.atomic((_, tx) => charge(tx).then(() => json({}))),
    ]
    const statuses = []
    for (const [at, handler] of handlers.entries()) {
      for (let round = 0; round < 2; round++) statuses.push((await handler(ask(`k${at}`))).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 402, 402, 503, 409, 200, 200])
    expect(await ledger.once('m', charge, { scope: 'queue' })).toMatchObject({ duplicate: false })
    expect(await ledger.once('m', charge, { scope: 'queue' })).toMatchObject({ duplicate: true })
    expect(await ledger.resolve('public', 'k3', json({}))).toBe(true)
    expect(await ledger.stats()).toMatchObject({ done: 5, messages: 1 })
    await ledger.reap()
    expect(await ledger.erase('public', { what: 'entries' })).toMatchObject({ left: 0 })
    await ledger.close()

    const journal = postgresJournal({ pool, migrate: false, sharedBudget: true })
    await journal.open()
    expect(await journal.execute([append('a')])).toEqual([{ appended: true }])
    expect(await journal.execute([list()])).toMatchObject([[{ key: 'a' }]])
    await journal.close()
  })
})
