// The order and the call that pays for it are written in one transaction: both, or neither.
// Run: node examples/06-outbox/main.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createClient } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import { startServer } from './server.mjs'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-outbox-'))
const server = await startServer()
const db = new Database(join(folder, 'shop.db'))
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE orders (number INTEGER PRIMARY KEY, amount INTEGER, state TEXT)')

const client = createClient({ baseUrl: server.origin, journal: sqliteJournal({ database: db }) })
client.onSettled('charge', ({ operation, status }) => {
  const state = status === 'succeeded' ? 'paid' : status
  db.prepare('UPDATE orders SET state = ? WHERE number = ?').run(state, operation.metadata.number)
})

async function placeOrder(number, amount) {
  const charge = await client.prepare('POST', '/charges', { json: { amount }, name: 'charge', metadata: { number } })
  db.transaction(() => {
    db.prepare("INSERT INTO orders VALUES (?, ?, 'open')").run(number, amount)
    charge.persist(db)
    if (amount > 1000) throw new Error('too much')
  })()
  return charge
}

function show(title) {
  const orders = db.prepare('SELECT number, state FROM orders').all()
  console.log(`${title}: ${orders.map(({ number, state }) => `${number} ${state}`).join(', ')}`)
}

const first = await placeOrder(1, 500)
await placeOrder(2, 700)
await placeOrder(3, 5000).catch((error) => console.log(`order 3: ${error.message}, rolled back`))
show('committed')

await client.send(first) // now, and wait for the answer...
await client.flush()
show('sent')
await client.resume() // ...or leave it to a resume, in this process or another
await client.flush()
show('resumed')

await client.close()
db.close()
console.log(`charged at the server: ${server.charged().join(', ')}`)
await server.close()
rmSync(folder, { recursive: true })
