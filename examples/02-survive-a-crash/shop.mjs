// The shop, in a process of its own. It can be killed at any time: started again, it goes on where it was.
import { createClient } from 'holdfast'

const [origin] = process.argv.slice(2)
const client = createClient({
  baseUrl: origin,
  onGiveUp: 'keep', // somebody who gives up waiting does not give up the charge
  budget: { burst: 100 }, // the server is bad on purpose
  observe: (event) => {
    if (event.type === 'operation.resumed') process.send?.({ key: event.operation.key, resumed: true })
  },
})
client.onSettled('charge', ({ operation, status, replayed }) => {
  const { key, attempts, metadata } = operation
  process.send?.({ order: metadata.order, key, attempts, status, replayed })
})

client.resume({ continuous: true }).catch(() => {})

/** The id says which charge this is: asked for again after the crash, it is still the same one. */
async function charge(order) {
  const call = client.post('/charges', {
    json: { order, amount: order * 100 },
    id: `order:${order}:charge`,
    name: 'charge',
    metadata: { order },
  })
  await call.accepted
  process.send?.({ order, key: call.key, accepted: true })
  await call.catch(() => {}) // kept: the resume goes on with it
}

const charges = []
for (let order = 1; order <= 20; order++) {
  charges.push(charge(order))
  await new Promise((resolve) => setTimeout(resolve, 60))
}
await Promise.all(charges)
process.on('disconnect', () => process.exit())
