// Entries of a ledger in Postgres, written by the database itself: by requests, ten million would take hours.
import { hash } from 'node:crypto'
import { json } from 'holdfast/server'

/** The key of the n-th entry, from 0: spread over the index as a UUID is, and known again. */
export function keyOf(n) {
  return hash('md5', String(n), 'hex')
}

const KEY = 'md5(n::text)'

/** `expired` of them, the first ones, are past their retention; the others are in the middle of theirs. */
export async function fillLedger(pool, { ledger, schema, entries, expired }) {
  // Its request makes the tables.
  const fingerprint = await fingerprintOf(pool, { ledger, schema })
  const table = `${schema}.holdfast_entries`
  const { rows } = await pool.query(
    `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 AND tablename = 'holdfast_entries'
     AND indexname <> 'holdfast_entries_pkey'`,
    [schema],
  )
  for (const { indexname } of rows) await pool.query(`DROP INDEX ${schema}.${indexname}`)
  for (let from = 0; from < entries; from += 500_000) {
    await pool.query(insertText(table), [from, Math.min(from + 500_000, entries) - 1, expired, fingerprint])
  }
  for (const { indexdef } of rows) await pool.query(indexdef)
  await pool.query(`VACUUM ANALYZE ${table}`)
}

/** Of the request that the section sends, so that replays are replays. */
async function fingerprintOf(pool, { ledger, schema }) {
  const body = JSON.stringify({ amount: 5000, currency: 'eur', description: 'x'.repeat(230) })
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'sample' }
  const handler = ledger.protect((_, { effect }) => effect(() => json({})))
  await handler(new Request('http://127.0.0.1/charges', { method: 'POST', body, headers }))
  const { rows } = await pool.query(`SELECT fingerprint FROM ${schema}.holdfast_entries`)
  await pool.query(`DELETE FROM ${schema}.holdfast_entries`)
  return rows[0].fingerprint
}

function insertText(table) {
  return `INSERT INTO ${table} (scope, key, fingerprint, method, path, token, external, state, attempt, in_effect, created_at,
      lease_until, expires_at, completed_at, status, headers, body, version)
    SELECT 'public', ${KEY}, $4, 'POST', '/charges', gen_random_uuid()::text, false, 'done', 1, true, at, at,
      CASE WHEN n < $3 THEN at - interval '1 hour' ELSE at + interval '24 hours' END, at, 201,
      '[["content-type","application/json"]]', convert_to(repeat('x', 100), 'UTF8'), 1
    FROM (SELECT n, clock_timestamp() AS at FROM generate_series($1::bigint, $2::bigint) AS n) AS drawn`
}

/** Bytes, indexes included. */
export async function sizeOf(pool, schema) {
  const { rows } = await pool.query(`SELECT pg_total_relation_size($1)::float8 AS bytes`, [
    `${schema}.holdfast_entries`,
  ])
  return rows[0].bytes
}
