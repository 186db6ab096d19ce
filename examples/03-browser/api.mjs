// The shop's API: takes an order once per key, and treats its clients as badly as its switch says.
import { once } from 'node:events'
import { createServer } from 'node:http'

const THINKING_MS = 700

/** What becomes of one request after the other of a key, while the server is flaky; later ones go well. */
const FLAKY = [
  ['503', 'answer lost', 'taken'],
  ['answer lost', '503', 'taken'],
  ['503', '503', 'answer lost', 'taken'],
]

export async function startApi({ port = 0 } = {}) {
  const ledger = new Ledger()
  let allowed = ''
  const serve = async (request, response) => {
    // A browser silently repeats a request that fails on a connection which it used before; here every failure shows.
    response.shouldKeepAlive = false
    response.setHeader('access-control-allow-origin', allowed)
    response.setHeader('vary', 'origin')
    if (request.method === 'OPTIONS') return preflight(response)
    const { pathname } = new URL(request.url, 'http://api')
    const route = `${request.method} ${pathname}`
    if (route === 'POST /orders') return order({ request, response, ledger })
    if (route === 'GET /ledger') return answer(response, 200, ledger)
    if (route === 'PUT /switch') return turn({ request, response, ledger })
    answer(response, 404, { error: 'not found' })
  }
  // A tab that is left in the middle takes its request with it.
  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    ledger,
    /** The one origin whose pages may call. */
    allow: (origin) => {
      allowed = origin
    },
    close: () => closed(server),
  }
}

/** `taken` is only ever added to, so that an order that was taken twice would stand there twice. */
class Ledger {
  mode = 'healthy'
  taken = []
  requests = []
  #answers = new Map()
  #scripts = new Map()

  /** What is to become of this request. */
  fate(key) {
    this.requests.push({ key })
    if (this.mode !== 'flaky') return this.mode === 'down' ? 'down' : 'taken'
    if (!this.#scripts.has(key)) this.#scripts.set(key, [...FLAKY[this.#scripts.size % FLAKY.length]])
    return this.#scripts.get(key).shift() ?? 'taken'
  }

  /** The effect happens here, once per key; whoever comes again gets the first one's answer. */
  take(key, body) {
    const known = this.#answers.get(key)
    if (known) return known.body === body ? { ...known, isReplay: true } : { status: 422 }
    const { order, product } = JSON.parse(body)
    this.taken.push({ key, order, product })
    const made = { status: 201, body, reply: { order, product, number: this.taken.length } }
    this.#answers.set(key, made)
    return made
  }

  toJSON() {
    const { mode, taken, requests } = this
    return { mode, taken, requests }
  }
}

async function order({ request, response, ledger }) {
  const key = request.headers['idempotency-key']
  const body = (await request.toArray()).join('')
  if (!key) return answer(response, 400, { error: 'an order needs a key' })
  const fate = ledger.fate(key)
  if (fate === 'down') return request.socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, fate === '503' ? THINKING_MS / 2 : THINKING_MS))
  if (fate === '503') return answer(response, 503, { error: 'unavailable' })
  const { status, reply, isReplay } = ledger.take(key, body)
  if (fate === 'answer lost') return request.socket.destroy()
  if (isReplay) response.setHeader('idempotency-replayed', 'true')
  answer(response, status, reply ?? { error: 'this key was used for another order' })
}

async function turn({ request, response, ledger }) {
  const { mode } = JSON.parse((await request.toArray()).join(''))
  if (!['healthy', 'flaky', 'down'].includes(mode)) return answer(response, 400, { error: 'no such mode' })
  ledger.mode = mode
  answer(response, 200, { mode })
}

/** All that a browser's client needs: the key, and a content type that is JSON. */
function preflight(response) {
  response.setHeader('access-control-allow-methods', 'GET, POST, PUT')
  response.setHeader('access-control-allow-headers', 'idempotency-key, content-type')
  response.setHeader('access-control-max-age', '600')
  response.writeHead(204).end()
}

function answer(response, status, value) {
  response.setHeader('access-control-expose-headers', 'idempotency-replayed, retry-after')
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function closed(server) {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
}
