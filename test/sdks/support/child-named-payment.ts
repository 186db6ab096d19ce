import { stripeOn } from '../snippets/stripe.ts'
import { callInChild } from './child-call.ts'

const idempotencyKey = 'order:42:payment'

await callInChild((client) =>
  stripeOn(client).paymentIntents.create({ amount: 5000, currency: 'eur' }, { idempotencyKey }),
)
