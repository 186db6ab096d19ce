// Fills a journal in Postgres with copies of one operation that a client has written.
const TABLE = 'holdfast_operations'
const COLUMNS = `version, namespace, origin, epoch, lease_until, due_at, not_before, delivery_due, head, body`

/** Pending ones are free to be claimed, and stand in the middle of those that have settled. */
export async function fillOperations(pool, { client, schema, settled, pending }) {
  const prepared = await client.prepare('POST', '/charges', { json: { amount: 5000, note: 'x'.repeat(260) } })
  const connection = await pool.connect()
  await client.operation('none')
  await connection.query('BEGIN')
  await prepared.persist(connection)
  await connection.query('COMMIT')
  connection.release()
  const copy = (count, more) =>
    pool.query(
      `INSERT INTO ${schema}.${TABLE} (${COLUMNS}, key, status, expires_at)
       SELECT ${COLUMNS.replace(/(\w+)/g, 't.$1')}, gen_random_uuid()::text, ${more}
       FROM ${schema}.${TABLE} t, generate_series(1, $1) WHERE t.key = $2`,
      [count, prepared.key],
    )
  const done = `'succeeded', ${Date.now() + 86_400_000}`
  await copy(Math.floor(settled / 2), done)
  await copy(pending - 1, "'pending', NULL")
  await copy(Math.ceil(settled / 2), done)
  await pool.query(`VACUUM ANALYZE ${schema}.${TABLE}`)
}

/** All that are pending wait for times in the next hour, as after a long outage; but `except` of them are due. */
export async function postpone(pool, { schema, except }) {
  await pool.query(
    `UPDATE ${schema}.${TABLE} o SET owner = NULL, lease_until = 0, due_at = CASE WHEN o.place % 7 = 0 AND o.place IN (
         SELECT place FROM ${schema}.${TABLE} WHERE status = 'pending' AND place % 7 = 0 ORDER BY place DESC LIMIT $1)
       THEN 0 ELSE $2 + floor(random() * 3600000)::bigint END WHERE status = 'pending'`,
    [except, Date.now() + 60_000],
  )
  await pool.query(`VACUUM ANALYZE ${schema}.${TABLE}`)
}

export async function bytesOf(pool, schema) {
  const { rows } = await pool.query(`SELECT pg_total_relation_size('${schema}.${TABLE}')::float8 AS bytes`)
  return rows[0].bytes
}
