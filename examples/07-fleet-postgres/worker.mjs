// One of the workers, in a process of its own. It posts the orders that it is handed, and resumes what the others leave.
import { createClient } from 'holdfast'
import { postgresJournal } from 'holdfast/postgres'

const [origin, connectionString] = process.argv.slice(2)
const tell = (message) => process.send?.(message)

const client = createClient({
  baseUrl: origin,
  journal: postgresJournal({ connectionString }),
  onGiveUp: 'keep', // a caller that gives up waiting does not give up the order
  budget: { burst: 100 }, // the server is bad on purpose
  observe: (event) => {
    if (event.type === 'operation.resumed') tell({ key: event.operation.key, resumed: true })
    if (event.type === 'attempt.ended') tell({ key: event.operation.key, saw: event.attempt.status ?? 'no answer' })
  },
})

client.onSettled('order', ({ operation, status, replayed }) => {
  tell({ key: operation.key, order: operation.metadata.order, status, replayed })
})

client.resume({ continuous: true }).catch(() => {}) // in every worker: what one leaves, another finishes

process.on('message', async ({ order }) => {
  const call = client.post('/orders', { json: { order }, id: `order:${order}`, name: 'order', metadata: { order } })
  await call.accepted
  tell({ key: call.key, order, accepted: true })
  await call.catch(() => {}) // kept: a resume goes on with it
})
tell({ ready: true })
process.on('disconnect', () => process.exit())
