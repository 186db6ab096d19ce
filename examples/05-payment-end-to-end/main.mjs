// A payment fails at each of its four points, and is made once each time.
// Run: node examples/05-payment-end-to-end/main.mjs
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import { startProvider } from './provider.mjs'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-payment-'))
const provider = await startProvider('charge')
const mails = await startProvider('receipt')
let service

async function startService({ port = 0, dieAt = '' } = {}) {
  const args = [join(folder, 'service.db'), provider.origin, mails.origin, String(port), dieAt]
  service = fork(fileURLToPath(new URL('service.mjs', import.meta.url)), args)
  return (await once(service, 'message'))[0].port
}

const port = await startService()
// The customer's side: in a browser this is the same code with IndexedDB, and the key is made before anything is sent.
const customer = createClient({
  baseUrl: `http://127.0.0.1:${port}`,
  journal: sqliteJournal({ path: join(folder, 'customer.db') }),
  retry: { base: 200, maxAttempts: 20 },
  budget: { burst: 50 },
})

async function pay(cart, story, prepare) {
  await prepare()
  const answer = await customer.post('/payments', { id: `cart:${cart}:pay`, json: { cart, amount: 5000 } })
  const { order } = await answer.json()
  await provider.until(cart)
  await mails.until(cart)
  const replayed = answer.headers.get('idempotency-replayed') === 'true' ? ' (replayed)' : ''
  console.log(`${story}: order ${order}${replayed}, charges ${provider.done(cart)}, receipts ${mails.done(cart)}`)
}

/** The service is killed at that point of its work, and started again. */
async function dying(dieAt) {
  service.kill('SIGKILL')
  await once(service, 'exit')
  await startService({ port, dieAt })
  service.once('exit', () => startService({ port }))
}

await pay(1, 'all goes well', () => {})
await pay(2, '1. the request to the provider is lost', () => provider.loseNext('request'))
await pay(3, '2. the answer of the provider is lost', () => provider.loseNext('answer'))
await pay(4, '3. killed after the charge, before it is recorded', () => dying('charged'))
await pay(5, '4. killed after the commit, before the answer', () => dying('committed'))

await customer.close()
service.kill('SIGKILL')
await Promise.all([provider.close(), mails.close()])
rmSync(folder, { recursive: true })
