import { gql } from '@urql/core'
import { axiosOn } from './snippets/axios.ts'
import { kyOn } from './snippets/ky.ts'
import { ofetchOn } from './snippets/ofetch.ts'
import { urqlOn } from './snippets/urql.ts'
import type { FetchOwner, SdkCall } from './support/cell.ts'
import { grid } from './support/grid.ts'

const order = { answer: () => ({ status: 201, body: { id: 1 } }), gives: { id: 1 } }
const graph = { answer: () => ({ body: { data: { order: { id: 1 } } } }), gives: { order: { id: 1 } } }
const json = { total: 5 }
const headers = { 'Idempotency-Key': 'order:42' }
const method = 'POST'

async function mutate(client: FetchOwner): Promise<unknown> {
  const { data, error } = await urqlOn(client).mutation(gql`mutation { order(total: 5) { id } }`, {}).toPromise()
  if (error) throw error
  return data
}

async function query(client: FetchOwner): Promise<unknown> {
  const { data, error } = await urqlOn(client).query(gql`{ order(id: 1) { id } }`, {}).toPromise()
  if (error) throw error
  return data
}

const posts: Readonly<Record<string, SdkCall>> = {
  'a POST by ky': { call: (client) => kyOn(client).post('orders', { json }).json(), ...order },
  'a POST by ofetch': { call: (client) => ofetchOn(client)('/orders', { method, body: json }), ...order },
  'a POST by axios': { call: async (client) => (await axiosOn(client).post('/orders', json)).data, ...order },
  'a mutation by urql': { call: mutate, ...graph },
}

const keyedPosts: Readonly<Record<string, SdkCall>> = {
  'a keyed POST by ky': { call: (client) => kyOn(client).post('orders', { json, headers }).json(), ...order },
  'a keyed POST by ofetch': {
    call: (client) => ofetchOn(client)('/orders', { method, body: json, headers }),
    ...order,
  },
  'a keyed POST by axios': {
    call: async (client) => (await axiosOn(client).post('/orders', json, { headers })).data,
    ...order,
  },
}

/** The same calls by a client that knows of the server that it honours keys. */
const postsToOurOwn = Object.entries(posts).map(
  ([name, sdk]) => [`${name} to a server of ours`, { ...sdk, options: { honoursKeys: true } }] as const,
)

grid([
  {
    title: 'POST without a key: all but Stripe',
    calls: posts,
  },
  {
    title: 'Key: Stripe, ky, ofetch, axios, urql',
    keysBy: 'the SDK',
    calls: keyedPosts,
  },
  {
    title: 'Key: Stripe, ky, ofetch, axios, urql',
    keysBy: 'our client',
    calls: Object.fromEntries(postsToOurOwn),
  },
  {
    title: 'PUT: ky, axios',
    calls: {
      'a PUT by ky': { call: (client) => kyOn(client).put('orders/1', { json }).json(), ...order },
      'a PUT by axios': { call: async (client) => (await axiosOn(client).put('/orders/1', json)).data, ...order },
    },
  },
  {
    title: 'GET: Octokit, Supabase, ky, ofetch, axios, urql',
    calls: {
      'a GET by ky': { call: (client) => kyOn(client).get('orders/1').json(), ...order },
      'a GET by ofetch': { call: (client) => ofetchOn(client)('/orders/1'), ...order },
      'a GET by axios': { call: async (client) => (await axiosOn(client).get('/orders/1')).data, ...order },
      'a query by urql': { call: query, ...graph },
    },
  },
  {
    title: 'GET: ky with its own 2 retries',
    calls: {
      'a GET by ky with retries': { call: (client) => kyOn(client).get('orders/1', { retry: 2 }).json(), ...order },
    },
  },
  {
    title: 'GET: ofetch with its own retry',
    calls: {
      'a GET by ofetch with retries': { call: (client) => ofetchOn(client)('/orders/1', { retry: 1 }), ...order },
    },
  },
])
