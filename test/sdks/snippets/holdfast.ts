import { createClient } from '../../../src/index.ts'

export function resumableClient() {
  const client = createClient({
    trustedOrigins: ['https://api.stripe.com'],
    headers: { authorization: `Bearer ${process.env.STRIPE_API_KEY}` },
  })
  return client
}
