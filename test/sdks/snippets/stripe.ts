import Stripe from 'stripe'
import type { FetchOwner } from '../support/cell.ts'

export function stripeOn(client: FetchOwner): Stripe {
  const stripe = new Stripe(process.env.STRIPE_API_KEY ?? '', {
    httpClient: Stripe.createFetchHttpClient(client.fetch),
    maxNetworkRetries: 0,
  })
  return stripe
}
