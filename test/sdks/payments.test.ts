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

it('is repeated at a server that ignores its key, unless the client says so', async () => {
  const payment = { call: (client: FetchOwner) => pay(client), ...api }
  const byDefault = await cell(payment, { keys: 'ignored', faults: ['lost answer'] })
  expect(byDefault.ours).toMatchObject({ requests: 2, effects: 2, outcome: 'ok' })
  const options = { honoursKeys: false }
  const { platform, ours } = await cell({ ...payment, options }, { keys: 'ignored', faults: ['lost answer'] })
  expect(ours).toEqual({ ...platform, keys: ours.keys })
})
