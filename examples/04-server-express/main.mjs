// An Express route whose effect happens once per key, however often it is asked.
// Run: node examples/04-server-express/main.mjs
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import express from 'express'
import { createLedger, json } from 'holdfast/server'
import { idempotent } from 'holdfast/server/express'
import { sqliteLedger } from 'holdfast/server/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-express-'))
const db = new Database(join(folder, 'shop.db'))
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE charges (id INTEGER PRIMARY KEY, amount INTEGER)')
// Whose key it is: as the session says, never a header that callers choose.
const ledger = createLedger({ store: sqliteLedger({ database: db }), scope: (request) => request.account })
/** In real life: a session store, or a token whose signature is checked. */
const sessions = new Map(Object.entries({ 'Bearer 4f1d': 'alice', 'Bearer 9b02': 'bob' }))

const app = express()
app.use((request, response, next) => {
  request.account = sessions.get(request.get('authorization'))
  return request.account ? next() : response.sendStatus(401)
})
app.post('/charges', express.json(), idempotent(ledger), (request) =>
  request.idempotency.effect((tx) => {
    const { amount } = request.body
    const { lastInsertRowid } = tx.prepare('INSERT INTO charges (amount) VALUES (?)').run(amount)
    // A 4xx undoes what was written and is remembered; a 5xx or a throw undoes everything and frees the key.
    if (amount > 1000) return json({ error: 'declined' }, { status: 402 })
    return json({ charge: Number(lastInsertRowid), amount }, { status: 201 })
  }),
)

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/charges`

async function charge(title, { key, amount = 500, token = '4f1d' }) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  if (key) headers['idempotency-key'] = key
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amount }) })
  const replayed = answer.headers.get('idempotency-replayed') === 'true' ? ', replayed' : ''
  console.log(`${title}: ${answer.status}${replayed} ${await answer.text()}`)
}

await charge('a charge', { key: 'k1' })
await charge('the same again', { key: 'k1' })
await charge('the key of another account', { key: 'k1', token: '9b02' })
await charge('the key for another amount', { key: 'k1', amount: 700 })
for (const title of ['declined', 'declined again']) await charge(title, { key: 'k2', amount: 5000 })
await charge('without a key', {})
console.log(`charges: ${db.prepare('SELECT count(*) FROM charges').pluck().get()}`)

server.close()
await ledger.close()
db.close()
rmSync(folder, { recursive: true })
