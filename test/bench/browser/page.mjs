// Runs in the page: each contender posts the same JSON to the page's own server.
import { createClient, memoryJournal } from 'holdfast'
import { indexedDbJournal } from 'holdfast/indexeddb'
import { Queue } from 'workbox-background-sync'

const BODY = { amount: 5000, currency: 'eur', description: 'x'.repeat(230) }
const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(BODY) }

// Workbox asks the registration of its service worker for `sync` events. A page has no registration, and here the
// queue is replayed after each post.
globalThis.registration = {}

const strict = createClient({ journal: indexedDbJournal({ name: 'strict' }) })
const relaxed = createClient({ journal: indexedDbJournal({ name: 'relaxed', durability: 'relaxed' }) })
const memory = createClient({ journal: memoryJournal() })
const queue = new Queue('bench', { onSync: async () => {} })

const calls = {
  fetch: async () => (await fetch('/charges', POST)).json(),
  'Holdfast, IndexedDB': () => strict.post('/charges', { json: BODY }).json(),
  "Holdfast, IndexedDB, durability 'relaxed'": () => relaxed.post('/charges', { json: BODY }).json(),
  'Holdfast, journal in memory': () => memory.post('/charges', { json: BODY }).json(),
  'workbox-background-sync': async () => {
    await queue.pushRequest({ request: new Request('/charges', POST) })
    await queue.replayRequests()
  },
}

/** Calls per second of one contender in one round. */
async function measureRound({ name, concurrency, roundMs }) {
  const start = performance.now()
  let done = 0
  const caller = async () => {
    do {
      await calls[name]()
      done++
    } while (performance.now() - start < roundMs)
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  return (done * 1000) / (performance.now() - start)
}

globalThis.bench = { names: Object.keys(calls), measureRound }
