// The shop's service: charges at the provider, then commits order, answer and receipt together.
import { once } from 'node:events'
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { createClient } from 'holdfast'
import { createLedger, json } from 'holdfast/server'
import { nodeHandler } from 'holdfast/server/node'
import { sqliteLedger } from 'holdfast/server/sqlite'
import { sqliteJournal } from 'holdfast/sqlite'

const [file, providerOrigin, mailOrigin, port, dieAt] = process.argv.slice(2)
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, cart INTEGER UNIQUE, charge TEXT)')

const client = createClient({ journal: sqliteJournal({ database: db }) })
// 'public' on purpose: only the shop itself calls it. With log-ins: the account of the verified session.
const ledger = createLedger({ store: sqliteLedger({ database: db }), scope: 'public' })

/** For the show: the process ends here as if its power had been cut. */
function dieHere(point) {
  if (dieAt === point) process.kill(process.pid, 'SIGKILL')
}

const pay = nodeHandler(
  ledger,
  async (request) => {
    const { effect, deriveKey } = request.idempotency
    const { cart, amount } = JSON.parse((await request.toArray()).join(''))
    // What happens outside carries a key of this operation: however often this handler runs, it is one charge.
    const charging = client.post(`${providerOrigin}/charges`, { key: deriveKey('charge'), json: { cart, amount } })
    const { id } = await charging.json()
    dieHere('charged')
    const receipt = await client.prepare('POST', `${mailOrigin}/mails`, { key: deriveKey('receipt'), json: { cart } })
    const reply = await effect((tx) => {
      const order = tx.prepare('INSERT INTO orders (cart, charge) VALUES (?, ?)').run(cart, id)
      receipt.persist(tx) // the receipt is sent if, and only if, the order is there
      return json({ order: Number(order.lastInsertRowid), charge: id }, { status: 201 })
    })
    dieHere('committed')
    return reply
  },
  // It does something outside of our transaction; running it again is safe since that has a key of its own.
  { external: true, onAbandoned: 'rerun' },
)

const server = createServer(pay).listen(Number(port), '127.0.0.1')
await once(server, 'listening')
process.send({ port: server.address().port })
client.resume({ continuous: true })
process.on('disconnect', () => process.exit())
