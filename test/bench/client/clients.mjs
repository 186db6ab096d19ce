import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import { createClient, memoryJournal } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import ky from 'ky'
import pRetry from 'p-retry'
import { Agent, request, fetch as undiciFetch } from 'undici'
import { writeAround } from './bare-journal.mjs'

export const BODY = { amount: 5000, currency: 'eur', description: 'x'.repeat(230) }

const TEXT = JSON.stringify(BODY)
const JSON_TYPE = { 'content-type': 'application/json' }
const POST = { method: 'POST', headers: JSON_TYPE, body: TEXT }

/** As an SDK sends it that makes its own keys. */
const keyed = () => ({ ...POST, headers: { ...JSON_TYPE, 'idempotency-key': crypto.randomUUID() } })

/**
 * Client -> `get`, `post` and `close`, where it has them. Each call reads the answer as JSON. The peers have the settings
 * that they come with, retries included, and write nothing; a `post` of Holdfast is in its journal before it is sent.
 */
export function clientsOf({ base, directory }) {
  return { ...undiciClients({ base, directory }), ...peers(base), ...holdfastClients({ base, directory }) }
}

function undiciClients({ base, directory }) {
  const dispatcher = new Agent({ connections: 128 })
  return {
    'undici.request': {
      get: async () => (await request(`${base}/thing`, { dispatcher })).body.json(),
      post: async () => (await request(`${base}/charges`, { dispatcher, ...POST })).body.json(),
      close: () => dispatcher.close(),
    },
    'undici.request, two writes around it': writeAround({
      path: `${directory}/bare.db`,
      body: Buffer.from(TEXT),
      send: async (key) => {
        const headers = { ...JSON_TYPE, 'idempotency-key': key }
        return (await request(`${base}/charges`, { dispatcher, ...POST, headers })).body.json()
      },
    }),
    'undici.fetch': {
      get: async () => (await undiciFetch(`${base}/thing`, { dispatcher })).json(),
      post: async () => (await undiciFetch(`${base}/charges`, { dispatcher, ...POST })).json(),
    },
  }
}

function peers(base) {
  const axiosClient = axios.create({ baseURL: base })
  axiosRetry(axiosClient, { retries: 3 })
  const getJson = async () => (await fetch(`${base}/thing`)).json()
  const postJson = async () => (await fetch(`${base}/charges`, POST)).json()
  return {
    fetch: { get: getJson, post: postJson },
    'p-retry + fetch': { get: () => pRetry(getJson, { retries: 3 }), post: () => pRetry(postJson, { retries: 3 }) },
    ky: {
      get: () => ky.get(`${base}/thing`).json(),
      post: () => ky.post(`${base}/charges`, { json: BODY }).json(),
    },
    got: {
      get: () => got.get(`${base}/thing`).json(),
      post: () => got.post(`${base}/charges`, { json: BODY }).json(),
    },
    'axios + axios-retry': {
      get: async () => (await axiosClient.get('/thing')).data,
      post: async () => (await axiosClient.post('/charges', BODY)).data,
    },
  }
}

/** One client for each journal; the first is what `createClient` makes when it is not told otherwise. */
function holdfastClients({ base, directory }) {
  const full = createClient({ baseUrl: base, journal: sqliteJournal({ path: `${directory}/full.db` }) })
  const path = `${directory}/process.db`
  const relaxed = createClient({ baseUrl: base, journal: sqliteJournal({ path, durability: 'process' }) })
  const memory = createClient({ baseUrl: base, journal: memoryJournal() })
  return {
    Holdfast: {
      get: () => full.get('/thing').json(),
      post: () => full.post('/charges', { json: BODY }).json(),
      close: () => full.close(),
    },
    'Holdfast, server that shows no keys': { post: () => full.post('/keyless/charges', { json: BODY }).json() },
    "Holdfast, durability 'process'": {
      post: () => relaxed.post('/charges', { json: BODY }).json(),
      close: () => relaxed.close(),
    },
    'Holdfast, journal in memory': {
      post: () => memory.post('/charges', { json: BODY }).json(),
      close: () => memory.close(),
    },
    'client.fetch': {
      get: async () => (await full.fetch('/thing')).json(),
      post: async () => (await full.fetch('/charges', POST)).json(),
    },
    'client.fetch, with a key': { post: async () => (await full.fetch('/charges', keyed())).json() },
  }
}

/** Client -> its `verb`, for those that have it. */
export function callsOf(clients, verb) {
  const able = Object.entries(clients).filter(([, client]) => client[verb])
  return Object.fromEntries(able.map(([name, client]) => [name, client[verb]]))
}

export async function closeClients(clients) {
  for (const client of Object.values(clients)) await client.close?.()
}
