/**
 * The judge: a server in a process of its own that knows nothing of the library. It honours the key by a map,
 * counts what it did, and fails on demand. Every effect is written to a file before it counts, so that a
 * restarted server goes on where it was.
 *
 *   node counting-server.mjs <file for effects> [port]
 *
 *   PUT /mode    { path?, script?, weights?, seed? }   how to treat requests, for one path or for all others
 *   PUT /flow                                          read on, what was stalled
 *   GET /report                                        what was asked and what was done, by key
 *   GET /last-report                                   the same, and nothing is done or answered after it
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [file = '', port = '0'] = process.argv.slice(2)

/** key -> { path, requests, effects, effectsAt, fresh and replayed (answers), bodies (hashes of all that came), hash (of what was done), answer } */
const operations = new Map()
const modes = new Map()
const complaints = []
const stalled = new Set()
const totals = { requests: 0, effects: 0, replays: 0 }
/** How often each fate was met. */
const met = {}
let isOver = false

function operation(key, path) {
  const nothing = { requests: 0, effects: 0, effectsAt: [], fresh: 0, replayed: 0 }
  const found = operations.get(key) ?? { path, ...nothing, bodies: new Set(), hash: '', answer: undefined }
  operations.set(key, found)
  return found
}

if (existsSync(file)) {
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { key, path, hash, answer, at } = JSON.parse(line)
    const known = operation(key, path)
    known.effects++
    known.effectsAt.push(at)
    known.bodies.add(hash)
    known.hash = hash
    known.answer = answer
    totals.effects++
  }
}

/** Small and seeded, so that a run can be told again. */
function dice(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function setMode({ path = '*', script = [], weights = { answer: 1 }, seed = 1 }) {
  modes.set(path, { script: [...script], weights, roll: dice(seed) })
}
setMode({})

/** What happens to this request: the script first, then the dice. */
function fateOf(path) {
  const mode = modes.get(path) ?? modes.get('*')
  const scripted = mode.script.shift()
  if (scripted) return scripted
  const entries = Object.entries(mode.weights)
  let left = mode.roll() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [fate, weight] of entries) {
    left -= weight
    if (left < 0) return fate
  }
  return entries[0][0]
}

function say(what, key) {
  process.stdout.write(`${what} ${key}\n`)
}

/** The effect and its answer, once per key. */
function apply(key, path, hash) {
  const known = operation(key, path)
  if (known.answer) {
    if (known.hash !== hash) return { status: 422, headers: {}, body: '{"error":"request_signature_mismatch"}' }
    totals.replays++
    known.replayed++
    return { ...known.answer, headers: { 'idempotency-replayed': 'true' } }
  }
  const answer = { status: 201, body: JSON.stringify({ number: totals.effects + 1 }) }
  const at = Date.now()
  appendFileSync(file, `${JSON.stringify({ key, path, hash, answer, at })}\n`)
  known.answer = answer
  known.hash = hash
  known.effects++
  known.effectsAt.push(at)
  known.fresh++
  totals.effects++
  return { ...answer, headers: {} }
}

function send(response, { status, headers, body }) {
  if (isOver) return void response.destroy()
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

async function bytesOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** What each fate does before and after the effect. Returning nothing leaves the request hanging. */
const fates = {
  answer: ({ response, work }) => send(response, work()),
  lose: ({ socket, work }) => {
    work()
    socket.resetAndDestroy()
  },
  unavailable: ({ response }) => send(response, { status: 503, headers: {}, body: '{"error":"unavailable"}' }),
  'do-not-retry': ({ response }) => send(response, { status: 503, headers: { 'do-not-retry': 'true' }, body: '{}' }),
  slow: ({ response, work }) => setTimeout(() => isOver || send(response, work()), 300),
  hang: ({ key }) => say('hangs', key),
  'work-and-hang': ({ key, work }) => {
    work()
    say('worked', key)
  },
}

/** Fates that are decided before the body was read. */
const early = {
  reset: (request) => request.socket.resetAndDestroy(),
  /** Takes the first bytes and no more, until told to: the client is stuck in the middle of its body. */
  stall: (request, key) => {
    request.once('data', () => {
      request.pause()
      stalled.add(request)
      say('stalls', key)
    })
    request.on('close', () => say(request.complete ? 'complete' : 'cut', key))
    request.on('error', () => {})
  },
}

async function serve(request, response) {
  if (isOver) return void request.socket.destroy()
  const key = String(request.headers['idempotency-key'] ?? '')
  const path = request.url
  const known = operation(key, path)
  known.requests++
  totals.requests++
  const fate = fateOf(path)
  met[fate] = (met[fate] ?? 0) + 1
  if (early[fate]) return early[fate](request, key)
  const hash = createHash('sha256')
    .update(await bytesOf(request))
    .digest('hex')
  if (isOver) return void request.socket.destroy()
  known.bodies.add(hash)
  if (known.bodies.size > 1) complaints.push(`other bytes under ${key}`)
  fates[fate]({ key, response, socket: request.socket, work: () => apply(key, path, hash) })
}

function report() {
  const byKey = Object.fromEntries(
    [...operations].map(([key, { path, requests, effects, effectsAt, fresh, replayed, bodies }]) => [
      key,
      { path, requests, effects, effectsAt, fresh, replayed, bodies: [...bodies] },
    ]),
  )
  return { ...totals, complaints, fates: met, operations: byKey }
}

const server = createServer(async (request, response) => {
  try {
    if (request.method === 'GET' && request.url === '/report') return void response.end(JSON.stringify(report()))
    if (request.method === 'GET' && request.url === '/last-report') {
      isOver = true
      return void response.end(JSON.stringify(report()))
    }
    if (request.method === 'PUT' && request.url === '/mode') {
      setMode(JSON.parse(String(await bytesOf(request))))
      return void response.end()
    }
    if (request.method === 'PUT' && request.url === '/flow') {
      for (const one of stalled) one.resume()
      return void response.end()
    }
    await serve(request, response)
  } catch {
    // The client went away in the middle of its body.
    request.socket.destroy()
  }
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`listening ${server.address().port}\n`))

// Nobody is left to judge for.
process.stdin.on('end', () => process.exit()).resume()
