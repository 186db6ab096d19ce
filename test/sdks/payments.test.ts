import { stripeOn } from './snippets/stripe.ts'
import type { FetchOwner } from './support/cell.ts'
import { grid } from './support/grid.ts'

const api = { answer: () => ({ body: { id: 'pi_1', object: 'payment_intent' } }), gives: 'pi_1' }

async function pay(client: FetchOwner, options?: { readonly maxNetworkRetries: number }): Promise<string> {
  const { id } = await stripeOn(client).paymentIntents.create({ amount: 5000, currency: 'eur' }, options)
  return id
}

grid([
  {
    title: 'Stripe, `maxNetworkRetries: 0`',
    keyed: true,
    calls: { 'a payment by Stripe': { call: (client) => pay(client), ...api } },
  },
  {
    title: 'Stripe, its own 2 retries',
    keyed: true,
    calls: {
      'a payment by Stripe with retries': { call: (client) => pay(client, { maxNetworkRetries: 2 }), ...api },
    },
  },
])
