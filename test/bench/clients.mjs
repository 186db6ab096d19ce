import { createClient } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import ky from 'ky'
import { Agent, request, fetch as undiciFetch } from 'undici'

const JSON_TYPE = { 'content-type': 'application/json' }

/** As an SDK sends it that makes its own keys. */
const keyed = () => ({ ...JSON_TYPE, 'idempotency-key': crypto.randomUUID() })

/** Each contender reads the answer as JSON. `post` of Holdfast is durable: on disk, synced, before it is sent. */
export function contenders({ base, directory, body }) {
  const text = JSON.stringify(body)
  const agent = new Agent({ connections: 128 })
  const holdfast = createClient({ baseUrl: base, journal: sqliteJournal({ path: `${directory}/bench.db` }) })
  return {
    'undici.request': {
      get: async () => (await request(`${base}/thing`, { dispatcher: agent })).body.json(),
      post: async () =>
        (
          await request(`${base}/charges`, { dispatcher: agent, method: 'POST', headers: JSON_TYPE, body: text })
        ).body.json(),
    },
    holdfast: {
      get: () => holdfast.get('/thing').json(),
      post: () => holdfast.post('/charges', { json: body }).json(),
      close: () => holdfast.close(),
    },
    fetch: {
      get: async () => (await fetch(`${base}/thing`)).json(),
      post: async () => (await fetch(`${base}/charges`, { method: 'POST', headers: JSON_TYPE, body: text })).json(),
    },
    'holdfast.fetch': {
      get: async () => (await holdfast.fetch('/thing')).json(),
      post: async () => (await holdfast.fetch('/charges', { method: 'POST', headers: JSON_TYPE, body: text })).json(),
    },
    'holdfast.fetch, keyed': {
      post: async () => (await holdfast.fetch('/charges', { method: 'POST', headers: keyed(), body: text })).json(),
    },
    'undici.fetch': {
      get: async () => (await undiciFetch(`${base}/thing`, { dispatcher: agent })).json(),
      post: async () =>
        (
          await undiciFetch(`${base}/charges`, { dispatcher: agent, method: 'POST', headers: JSON_TYPE, body: text })
        ).json(),
    },
    ky: {
      get: () => ky.get(`${base}/thing`).json(),
      post: () => ky.post(`${base}/charges`, { json: body }).json(),
      close: () => agent.close(),
    },
  }
}
