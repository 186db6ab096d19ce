// The clients with a transport that answers at once, without a socket: what is left is the client itself.
import axios from 'axios'
import axiosRetry from 'axios-retry'
import { createClient, memoryJournal } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import ky from 'ky'
import pRetry from 'p-retry'
import { Agent, request } from 'undici'
import { BODY } from './clients.mjs'

const ANSWER = JSON.stringify({ id: 'ch_1', status: 'created', note: 'x'.repeat(56) })
const BYTES = Buffer.from(ANSWER)
const HEADERS = { 'content-type': 'application/json', 'content-length': String(BYTES.length) }
const RAW_HEADERS = Object.entries(HEADERS)
  .flat()
  .map((text) => Buffer.from(text))
const BASE = 'http://127.0.0.1:9'
const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(BODY) }

const idleFetch = async () => new Response(ANSWER, { headers: HEADERS })

/** Answers in the turn in which it is asked. undici has two dialects of handlers: `request` speaks the older one. */
class IdleAgent extends Agent {
  dispatch(_, handler) {
    if (handler.onRequestStart) answer(handler)
    else answerInOlderDialect(handler)
    return true
  }
}

const CONTROLLER = { abort() {}, pause() {}, resume() {}, aborted: false, paused: false, reason: null }

function answer(handler) {
  handler.onRequestStart(CONTROLLER, {})
  handler.onResponseStart(CONTROLLER, 200, HEADERS, 'OK')
  handler.onResponseData(CONTROLLER, BYTES)
  handler.onResponseEnd(CONTROLLER, {})
}

function answerInOlderDialect(handler) {
  handler.onConnect(() => {}, null)
  handler.onHeaders(200, RAW_HEADERS, () => {}, 'OK')
  handler.onData(BYTES)
  handler.onComplete([])
}

/** Client -> `get`, `post` and `close`. got has no transport that can be replaced. */
export function idleClientsOf({ directory }) {
  const dispatcher = new IdleAgent()
  const axiosClient = axios.create({ baseURL: BASE, adapter: idleAdapter })
  axiosRetry(axiosClient, { retries: 3 })
  const idleKy = ky.create({ prefixUrl: BASE, fetch: idleFetch })
  const getJson = async () => (await idleFetch(`${BASE}/thing`)).json()
  return {
    'undici.request': {
      get: async () => (await request(`${BASE}/thing`, { dispatcher })).body.json(),
      post: async () => (await request(`${BASE}/charges`, { dispatcher, ...POST })).body.json(),
    },
    'a fetch that does nothing': { get: getJson, post: getJson },
    'p-retry + fetch': { get: () => pRetry(getJson, { retries: 3 }), post: () => pRetry(getJson, { retries: 3 }) },
    ky: { get: () => idleKy.get('thing').json(), post: () => idleKy.post('charges', { json: BODY }).json() },
    'axios + axios-retry': {
      get: async () => (await axiosClient.get('/thing')).data,
      post: async () => (await axiosClient.post('/charges', BODY)).data,
    },
    ...idleHoldfast({ dispatcher, directory }),
  }
}

async function idleAdapter(config) {
  return { data: ANSWER, status: 200, statusText: 'OK', headers: HEADERS, config, request: {} }
}

function idleHoldfast({ dispatcher, directory }) {
  const client = (options) => createClient({ baseUrl: BASE, ...options })
  const sqlite = (durability) => sqliteJournal({ path: `${directory}/idle-${durability}.db`, durability })
  const full = client({ dispatcher, journal: sqlite('full') })
  const relaxed = client({ dispatcher, journal: sqlite('process') })
  const memory = client({ dispatcher, journal: memoryJournal() })
  const overFetch = client({ fetch: idleFetch, journal: memoryJournal() })
  const post = (of) => ({ post: () => of.post('/charges', { json: BODY }).json(), close: () => of.close() })
  return {
    Holdfast: { get: () => full.get('/thing').json(), ...post(full) },
    "Holdfast, durability 'process'": post(relaxed),
    'Holdfast, journal in memory': post(memory),
    'Holdfast over fetch, journal in memory': { get: () => overFetch.get('/thing').json(), ...post(overFetch) },
  }
}
