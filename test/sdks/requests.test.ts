import { describe, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import type { Seen } from '../support/transport-servers.ts'
import { anthropicOn } from './snippets/anthropic.ts'
import { axiosOn } from './snippets/axios.ts'
import { kyOn } from './snippets/ky.ts'
import { octokitOn } from './snippets/octokit.ts'
import { ofetchOn } from './snippets/ofetch.ts'
import { openaiOn } from './snippets/openai.ts'
import { stripeOn } from './snippets/stripe.ts'
import { supabaseOn } from './snippets/supabase.ts'
import { aimedAt, type FetchOwner } from './support/cell.ts'
import { setEnvironment } from './support/environment.ts'
import { type Fault, faultyApi } from './support/faulty-api.ts'

setEnvironment()

const text = 'x'.repeat(200_000)
const file = () => new File([text], 'orders.jsonl', { type: 'application/jsonl' })
const form = () => {
  const data = new FormData()
  data.set('file', file())
  return data
}
const repository = { owner: 'holdfast', repo: 'holdfast' }

const calls: Readonly<Record<string, (client: FetchOwner) => Promise<unknown>>> = {
  'a form by OpenAI': (client) => openaiOn(client).files.create({ file: file(), purpose: 'batch' }),
  'a list by OpenAI': async (client) => openaiOn(client).models.list(),
  'a count by Anthropic': (client) => anthropicOn(client).messages.countTokens({ model: 'claude', messages: [] }),
  'bytes by Octokit': (client) =>
    octokitOn(client).rest.repos.uploadReleaseAsset({ ...repository, release_id: 1, name: 'a.txt', data: text }),
  'a query by Octokit': (client) => octokitOn(client).rest.issues.listForRepo({ ...repository, labels: 'bug,ü' }),
  'a payment by Stripe': (client) => stripeOn(client).paymentIntents.create({ amount: 1, currency: 'eur' }),
  'a list by Stripe': async (client) => stripeOn(client).paymentIntents.list({ limit: 3 }),
  'a form by Supabase': (client) => supabaseOn(client).storage.from('orders').upload('a.jsonl', file()),
  'a procedure by Supabase': async (client) => supabaseOn(client).rpc('close', { id: 42 }),
  'a form by ky': (client) => kyOn(client).post('orders', { body: form() }).json(),
  'a form by ofetch': (client) => ofetchOn(client)('/orders', { method: 'POST', body: form() }),
  'a query by axios': (client) => axiosOn(client).get('/orders', { params: { tag: ['a', 'b'] } }),
  'bytes by axios': (client) => axiosOn(client).put('/orders/1', new TextEncoder().encode(text)),
}

/** What the client says of itself with each request. */
const OURS = ['do-not-retry', 'holdfast-attempt', 'repeatability-first-sent', 'request-timeout-ms']
/** Different in each request, by either fetch. */
const RANDOM = ['host', 'idempotency-key', 'x-stripe-client-telemetry']
/** Of a Request that was made from another one the length is known only when it is sent again. */
const FRAMING = ['content-length', 'transfer-encoding']
const IGNORED = new Set([...OURS, ...RANDOM, ...FRAMING])

async function requestsOf(
  call: (client: FetchOwner) => Promise<unknown>,
  client: FetchOwner,
  faults: readonly Fault[],
) {
  const api = await faultyApi({ answer: () => ({ body: { data: [] } }), keys: 'ignored', faults })
  try {
    await call(aimedAt(api.origin, client))
    return api.requests.map(withoutChance)
  } finally {
    await api.close()
  }
}

/** As the server has seen it, but for what is a matter of chance, and for what is ours. */
function withoutChance({ method, url, headers, body }: Seen): object {
  const boundary = /boundary=(\S+)/.exec(String(headers['content-type']))?.[1] ?? '\n'
  const kept = Object.entries(headers).filter(([name]) => !IGNORED.has(name))
  const named = kept.map(([name, value]) => [name, String(value).replace(boundary, 'boundary')])
  return { method, url, headers: Object.fromEntries(named), body: body.replaceAll(boundary, 'boundary') }
}

const all = Object.entries(calls).map(([name, call]) => ({ name, call }))

describe.concurrent.each(all)('$name', ({ call }) => {
  it('is the same request by our fetch and by that of the platform, and the same again', async ({ expect }) => {
    const client = createClient({ journal: memoryJournal() })
    try {
      const [platform] = await requestsOf(call, { fetch: globalThis.fetch }, [])
      expect(await requestsOf(call, client, [])).toEqual([platform])
      expect(await requestsOf(call, client, ['429 in 20 ms'])).toEqual([platform, platform])
    } finally {
      await client.close()
    }
  })
})
