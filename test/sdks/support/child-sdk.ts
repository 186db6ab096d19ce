/** Makes one call through an SDK, or resumes what such a process has left. It is made to be killed. */
import { createClient } from '../../../src/index.ts'
import { inputOf, say } from '../../support/child-voice.ts'
import { resumableClient } from '../snippets/holdfast.ts'
import { kyOn } from '../snippets/ky.ts'
import { octokitOn } from '../snippets/octokit.ts'
import { stripeOn } from '../snippets/stripe.ts'
import { aimedAt, describeError, type FetchOwner } from './cell.ts'
import { setEnvironment } from './environment.ts'

export interface SdkChildInput {
  readonly origin: string
  readonly db: string
  readonly does: 'call' | 'call by the platform' | 'resume' | 'resume without credentials'
  readonly call?: keyof typeof calls | undefined
}

const payment = { amount: 5000, currency: 'eur' }
const idempotencyKey = 'order:42:payment'

const calls = {
  'a payment': (client: FetchOwner) => stripeOn(client).paymentIntents.create(payment),
  'a payment under a key of its caller': (client: FetchOwner) =>
    stripeOn(client).paymentIntents.create(payment, { idempotencyKey }),
  'an order under a key of its caller': (client: FetchOwner) =>
    kyOn(client)
      .post('orders', { json: { total: 5 }, headers: { 'Idempotency-Key': 'order:42' } })
      .json(),
  'an issue': (client: FetchOwner) =>
    octokitOn(client).rest.issues.create({ owner: 'holdfast', repo: 'holdfast', title: 'It hangs' }),
}

const { origin, db, does, call = 'a payment' } = inputOf<SdkChildInput>()
setEnvironment()
const platform = { fetch: globalThis.fetch }
globalThis.fetch = aimedAt(origin, platform).fetch
process.env.HOLDFAST_DB = db

const client = does === 'resume without credentials' ? createClient() : resumableClient()
if (does.startsWith('call')) {
  await calls[call](does === 'call' ? client : { fetch: globalThis.fetch }).then(
    (answer) => say('answered', { answer }),
    (error) => say('answered', { error: describeError(error) }),
  )
} else {
  say('resumed', { report: await client.resume() })
}
const left = []
for await (const { key, status, reason } of client.operations({ status: 'pending' })) left.push({ key, status, reason })
say('left', { left })
await client.close()
process.exit()
