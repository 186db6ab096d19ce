/** The server's half: asks a protected handler twice with one key, on a ledger in SQLite; says how often it worked. */
import { createLedger, json } from 'holdfast/server'
import { sqliteLedger } from 'holdfast/server/sqlite'

const store = sqliteLedger({ path: process.env.HOLDFAST_DB })
const ledger = createLedger({ store, scope: () => 'public' })
let worked = 0
const handler = ledger.protect((_request, { effect }) => effect(() => json({ number: ++worked }, { status: 201 })))

async function ask() {
  const headers = { 'Idempotency-Key': 'order-42' }
  const request = new Request('http://api.example/charges', { method: 'POST', headers, body: '{"amount":5000}' })
  const response = await handler(request)
  return { status: response.status, replayed: response.headers.get('Idempotency-Replayed') }
}

const [first, second] = [await ask(), await ask()]
await store.close()
console.log(JSON.stringify({ worked, first, second }))
