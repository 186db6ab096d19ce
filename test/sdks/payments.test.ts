import { expect, it } from 'vitest'
import { stripeOn } from './snippets/stripe.ts'
import { cell, type FetchOwner } from './support/cell.ts'
import { grid } from './support/grid.ts'

const api = { answer: () => ({ body: { id: 'pi_1', object: 'payment_intent' } }), gives: 'pi_1' }

async function pay(client: FetchOwner, options?: { readonly maxNetworkRetries: number }): Promise<string> {
  const { id } = await stripeOn(client).paymentIntents.create({ amount: 5000, currency: 'eur' }, options)
  return id
}

grid([
  {
    title: 'Key: Stripe, ky, ofetch, axios, urql',
    keysBy: 'the SDK',
    calls: { 'a payment by Stripe': { call: (client) => pay(client), ...api } },
  },
  {
    title: 'Key: Stripe with its own 2 retries',
    keysBy: 'the SDK',
    calls: {
      'a payment by Stripe with retries': { call: (client) => pay(client, { maxNetworkRetries: 2 }), ...api },
    },
  },
])

it('takes a key for a promise: only a client that is told otherwise spares a server that ignores it', async () => {
  const payment = { call: (client: FetchOwner) => pay(client), ...api }
  const untold = await cell(payment, { keys: 'ignored', faults: ['lost answer'] })
  expect(untold.ours).toMatchObject({ requests: 2, effects: 2, told: 'ok' })
  const options = { honoursKeys: false }
  const told = await cell({ ...payment, options }, { keys: 'ignored', faults: ['lost answer'] })
  expect(told.ours).toEqual({ ...told.platform, keys: told.ours.keys })
})
