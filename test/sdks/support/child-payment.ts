import { stripeOn } from '../snippets/stripe.ts'
import { callInChild } from './child-call.ts'

await callInChild((client) => stripeOn(client).paymentIntents.create({ amount: 5000, currency: 'eur' }))
