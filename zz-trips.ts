import pg from 'pg'
import { readFileSync } from 'node:fs'
import { createLedger, json } from '/tmp/hf/server/src/server/index.ts'
import { postgresLedger } from '/tmp/hf/server/src/server/postgres/index.ts'
let trips = 0
const query = pg.Client.prototype.query
pg.Client.prototype.query = function (this: unknown, ...args: never[]) { trips++; return (query as Function).apply(this, args) } as never
import { startPostgres } from '/tmp/hf/server/test/support/postgres-setup.ts'
const running = await startPostgres()
const pool = new pg.Pool({ connectionString: running.url })
const schema = 'trips'
await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.c (n int)`)
const ledger = createLedger({ store: postgresLedger({ pool, schema }), scope: 'public' })
const ask = (h: (r: Request) => Promise<Response>, key: string) => h(new Request('http://x/', { method: 'POST', body: '{}', headers: { 'idempotency-key': key } }))
const effectOf = (status: number) => ledger.protect(async (_, { effect }) => effect(async (tx) => { await tx.query(`insert into ${schema}.c values (1)`); return json({}, { status }) }))
const given = ledger.protect(async (_, { effect }) => { const client = await pool.connect(); await client.query('BEGIN'); const r = await effect(async (tx) => { await tx.query(`insert into ${schema}.c values (1)`); return json({}, { status: 201 }) }, { transaction: client }); await client.query('COMMIT'); client.release(); return r })
const plain = ledger.protect(async () => { await pool.query(`insert into ${schema}.c values (1)`); return json({}) })
await ask(plain, 'warm')
const measure = async (name: string, h: (r: Request) => Promise<Response>, key: string) => { trips = 0; const r = await ask(h, key); console.log(name.padEnd(34), trips, r.status) }
await measure('plain first (1 for the work)', plain, 'p')
await measure('plain replay', plain, 'p')
for (const s of [201, 422, 500]) { await measure(`effect ${s} first (1 for the work)`, effectOf(s), `e${s}`); if (s < 500) await measure(`effect ${s} replay`, effectOf(s), `e${s}`) }
await measure('effect, given tx (3 for the caller)', given, 'g')
await ledger.once('warm', async () => 1, { scope: 's' })
trips = 0; await ledger.once('m', async (tx) => { await tx.query(`insert into ${schema}.c values (1)`); return 1 }, { scope: 's' }); console.log('once first (1 for the work)'.padEnd(34), trips)
await pool.query(`DROP SCHEMA ${schema} CASCADE`)
await pool.end(); await running.stop()
