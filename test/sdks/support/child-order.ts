import { kyOn } from '../snippets/ky.ts'
import { callInChild } from './child-call.ts'

const headers = { 'Idempotency-Key': 'order:42' }

await callInChild((client) =>
  kyOn(client)
    .post('orders', { json: { total: 5 }, headers })
    .json(),
)
