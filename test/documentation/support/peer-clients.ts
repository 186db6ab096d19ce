import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import ky from 'ky'
import { ofetch } from 'ofetch'
import pRetry from 'p-retry'
import { type ClientOptions, createClient, memoryJournal } from '../../../src/index.ts'

export interface PeerClient {
  get(url: string): PromiseLike<unknown>
  post(url: string, json: object): PromiseLike<unknown>
}

/** The clients of docs/comparison.md, as they come: nothing is set that need not be. */
export const peerClients: Readonly<Record<string, () => PeerClient>> = {
  fetch: () => ({ get: (url) => fetch(url), post: postWithFetch }),
  'p-retry + fetch': () => ({
    get: (url) => pRetry(() => fetch(url)),
    post: (url, json) => pRetry(() => postWithFetch(url, json)),
  }),
  ky: () => ({ get: (url) => ky.get(url), post: (url, json) => ky.post(url, { json }) }),
  got: () => ({ get: (url) => got.get(url), post: (url, json) => got.post(url, { json }) }),
  ofetch: () => ({ get: (url) => ofetch(url), post: (url, json) => ofetch(url, { method: 'POST', body: json }) }),
  'axios-retry': axiosWithRetry,
  Holdfast: () => holdfast({}),
  'Holdfast, `honoursKeys: false`': () => holdfast({ honoursKeys: false }),
}

function postWithFetch(url: string, json: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) })
}

function axiosWithRetry(): PeerClient {
  const client = axios.create()
  axiosRetry(client)
  return { get: (url) => client.get(url), post: (url, json) => client.post(url, json) }
}

/** In memory: what is compared is what a server sees, and no journal changes that. */
function holdfast(options: ClientOptions): PeerClient {
  const client = createClient({ ...options, journal: memoryJournal() })
  return { get: (url) => client.get(url), post: (url, json) => client.post(url, { json }) }
}
