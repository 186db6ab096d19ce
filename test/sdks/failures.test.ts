import { setTimeout as pause } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { type HoldfastError, isHoldfastError } from '../../src/index.ts'
import { anthropicOn } from './snippets/anthropic.ts'
import { axiosOn } from './snippets/axios.ts'
import { kyOn } from './snippets/ky.ts'
import { octokitOn } from './snippets/octokit.ts'
import { ofetchOn } from './snippets/ofetch.ts'
import { openaiOn } from './snippets/openai.ts'
import { stripeOn } from './snippets/stripe.ts'
import { supabaseOn } from './snippets/supabase.ts'
import { urqlOn } from './snippets/urql.ts'
import { cell, type FetchOwner } from './support/cell.ts'
import { setEnvironment } from './support/environment.ts'

setEnvironment()

const messages = [{ role: 'user' as const, content: 'Say hello' }]
const payment = { amount: 5000, currency: 'eur' }
const order = { total: 5 }
const mutation = 'mutation { order(total: 5) { id } }'

interface Limit {
  readonly timeout?: number
  readonly signal?: AbortSignal
}

type Call = (client: FetchOwner, limit: Limit) => Promise<unknown>

const calls: Readonly<Record<string, Call>> = {
  Stripe: (client, { timeout }) => stripeOn(client).paymentIntents.create(payment, timeout ? { timeout } : {}),
  OpenAI: (client, limit) => openaiOn(client).chat.completions.create({ model: 'gpt', messages }, limit),
  Anthropic: (client, limit) => anthropicOn(client).messages.create({ model: 'c', max_tokens: 9, messages }, limit),
  Octokit: (client, { signal }) =>
    octokitOn(client).request('POST /repos/{owner}/{repo}/issues', {
      owner: 'holdfast',
      repo: 'holdfast',
      title: 'It hangs',
      request: signal ? { signal } : {},
    }),
  Supabase: async (client, { signal }) => {
    const insert = supabaseOn(client).from('orders').insert(order).throwOnError()
    return signal ? insert.abortSignal(signal) : insert
  },
  ky: (client, limit) =>
    kyOn(client)
      .post('orders', { json: order, ...limit })
      .json(),
  ofetch: (client, limit) => ofetchOn(client)('/orders', { method: 'POST', body: order, ...limit }),
  axios: (client, limit) => axiosOn(client).post('/orders', order, limit),
  urql: async (client) => {
    const { error } = await urqlOn(client).mutation(mutation, {})
    if (error) throw error
  },
}

const api = { answer: () => ({ body: {} }), gives: undefined }
const all = Object.entries(calls).map(([name, call]) => ({ name, call }))

/** Where SDKs put the error of their fetch. */
const CAUSES = ['cause', 'detail', 'networkError', 'originalError'] as const

function holdfastErrorIn(error: unknown): HoldfastError | undefined {
  for (let one = error; typeof one === 'object' && one !== null; ) {
    if (isHoldfastError(one)) return one
    const links = one as Partial<Record<(typeof CAUSES)[number], unknown>>
    one = CAUSES.map((name) => links[name]).find((cause) => cause instanceof Error)
  }
  return undefined
}

describe.concurrent.each(all)('a failure by $name', ({ name, call }) => {
  it('is told in the same words, with our error inside', async ({ expect }) => {
    const inside: unknown[] = []
    const noted = (client: FetchOwner): Promise<unknown> =>
      call(client, {}).catch((error) => {
        inside.push(holdfastErrorIn(error))
        throw error
      })
    const { platform, ours } = await cell({ ...api, call: noted }, { keys: 'honoured', lasting: 'lost answer' })
    // Octokit takes the message of the cause, and ours says more.
    if (name === 'Octokit') expect(ours.told).toMatch(/^HttpError: .*other side closed.*It may have been done\.$/)
    else expect(ours.told).toBe(platform.told)
    expect(inside.filter((error) => error)).toMatchObject([{ effect: 'unknown' }])
    expect(ours.effects).toBe(1)
  })
})

/** urql knows neither a time limit nor a signal. */
const impatient = all.filter(({ name }) => name !== 'urql')
const silences = ['silence', 'silence after the work'] as const

describe.concurrent.each(impatient)('the end of the patience of $name', ({ call }) => {
  it.for(silences)('ends the request for good: %s', async (fault, { expect }) => {
    const limited = (client: FetchOwner): Promise<unknown> =>
      call(client, { timeout: 700, signal: AbortSignal.timeout(700) }).finally(() => pause(300))
    const { platform, ours } = await cell({ ...api, call: limited }, { keys: 'honoured', lasting: fault })
    expect(ours).toEqual({ ...platform, keys: ours.keys })
    expect(ours.requests).toBe(1)
  })
})
