import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { createClient, isHoldfastError, memoryJournal } from '../../src/index.ts'
import { closedPort } from '../support/transport-servers.ts'
import { anthropicOn } from './snippets/anthropic.ts'
import { axiosOn } from './snippets/axios.ts'
import { kyOn } from './snippets/ky.ts'
import { octokitOn } from './snippets/octokit.ts'
import { ofetchOn } from './snippets/ofetch.ts'
import { openaiOn } from './snippets/openai.ts'
import { stripeOn } from './snippets/stripe.ts'
import { supabaseOn } from './snippets/supabase.ts'
import { urqlOn } from './snippets/urql.ts'
import { aimedAt, cell, type FetchOwner } from './support/cell.ts'
import { setEnvironment } from './support/environment.ts'

setEnvironment()

const messages = [{ role: 'user' as const, content: 'Say hello' }]
const payment = { amount: 5000, currency: 'eur' }
const order = { total: 5 }
const issue = { owner: 'holdfast', repo: 'holdfast', title: 'It hangs' }

/** The SDK's own timeout, or a signal where it has none. */
interface Limit {
  readonly timeout?: number
  readonly signal?: AbortSignal
}

interface Sdk {
  readonly call: (client: FetchOwner, limit: Limit) => Promise<unknown>
  /** Where in the SDK's error the guide says that ours is. */
  readonly inside: readonly string[]
}

const sdks: Readonly<Record<string, Sdk>> = {
  Stripe: {
    call: (client, limit) => stripeOn(client).paymentIntents.create(payment, ownTimeout(limit)),
    inside: ['detail', 'cause'],
  },
  OpenAI: {
    call: (client, limit) => openaiOn(client).chat.completions.create({ model: 'gpt', messages }, ownTimeout(limit)),
    inside: ['cause', 'cause'],
  },
  Anthropic: {
    call: (client, limit) =>
      anthropicOn(client).messages.create({ model: 'c', max_tokens: 9, messages }, ownTimeout(limit)),
    inside: ['cause', 'cause'],
  },
  Octokit: {
    call: (client, { signal }) => octokitOn(client).rest.issues.create({ ...issue, request: signal ? { signal } : {} }),
    inside: ['cause', 'cause'],
  },
  Supabase: {
    call: async (client, { signal }) => {
      const insert = supabaseOn(client).from('orders').insert(order).throwOnError()
      return signal ? insert.abortSignal(signal) : insert
    },
    inside: ['cause'],
  },
  ky: {
    call: (client, limit) =>
      kyOn(client)
        .post('orders', { json: order, ...ownTimeout(limit) })
        .json(),
    inside: ['cause'],
  },
  ofetch: {
    call: (client, limit) => ofetchOn(client)('/orders', { method: 'POST', body: order, ...ownTimeout(limit) }),
    inside: ['cause', 'cause'],
  },
  axios: { call: (client, limit) => axiosOn(client).post('/orders', order, ownTimeout(limit)), inside: ['cause'] },
  urql: {
    call: async (client) => {
      const { error } = await urqlOn(client).mutation('mutation { order(total: 5) { id } }', {})
      if (error) throw error
    },
    inside: ['networkError', 'cause'],
  },
}

const api = { answer: () => ({ body: {} }), gives: undefined }
const all = Object.entries(sdks).map(([name, sdk]) => ({ name, ...sdk }))

function ownTimeout({ timeout }: Limit): { readonly timeout?: number } {
  return timeout ? { timeout } : {}
}

function memberOf(error: unknown, path: readonly string[]): unknown {
  return path.reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], error)
}

describe.concurrent.each(all)('a lost answer by $name', ({ name, call, inside }) => {
  it('gives the same error as the platform’s fetch, with ours inside', async ({ expect }) => {
    const found: unknown[] = []
    const noted = (client: FetchOwner): Promise<unknown> =>
      call(client, {}).catch((error) => {
        found.push(memberOf(error, inside))
        throw error
      })
    const { platform, ours } = await cell({ ...api, call: noted }, { keys: 'honoured', lasting: 'lost answer' })
    // Octokit takes the message of the cause, and ours says more.
    if (name === 'Octokit')
      expect(ours.outcome).toMatch(/^HttpError: .*other side closed.*It may have been done\. Stopped: /)
    else expect(ours.outcome).toBe(platform.outcome)
    expect(found.filter(isHoldfastError)).toMatchObject([{ effect: 'unknown' }])
    expect(ours.effects).toBe(1)
  })
})

describe.concurrent.each(all)('a refused connection by $name', ({ call }) => {
  it('is tried again, with a key or without', async ({ expect }) => {
    const port = await closedPort()
    const options = { base: 300, jitter: 'none' } as const
    const client = createClient({ journal: memoryJournal(), retry: options })
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"data":{}}'))
    })
    try {
      const answer = call(aimedAt(`http://127.0.0.1:${port}`, client), {})
      setTimeout(() => server.listen(port, '127.0.0.1'), 100)
      await expect(answer).resolves.not.toThrow()
    } finally {
      server.closeAllConnections()
      server.close()
      await client.close()
    }
  })
})

/** urql has neither a timeout nor a signal. */
const withTimeout = all.filter(({ name }) => name !== 'urql')

describe.concurrent.each(withTimeout)('a timeout of $name', ({ call }) => {
  it.for(['silence', 'silence after the work'] as const)('ends the request for good: %s', async (fault, { expect }) => {
    const limited = (client: FetchOwner): Promise<unknown> =>
      call(client, { timeout: 700, signal: AbortSignal.timeout(700) }).finally(() => pause(300))
    const { platform, ours } = await cell({ ...api, call: limited }, { keys: 'honoured', lasting: fault })
    expect(ours).toEqual({ ...platform, keys: ours.keys })
    expect(ours.requests).toBe(1)
  })
})
