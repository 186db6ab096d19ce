import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeAtEnd } from './closing.ts'

/** What can happen to a request. */
export type ApiFate =
  | 'answer'
  | 'unavailable'
  | 'unauthorized'
  | 'hang'
  | 'work-and-hang'
  | 'lose'
  | 'reset'
  | 'slow'
  | 'captive-portal'

export interface ApiOptions {
  /** The headers that the preflight allows. */
  readonly allowHeaders?: readonly string[]
  /** Where a captive portal sends people. */
  readonly portal?: string
  readonly slowMs?: number
  /** The fate of a request, asked when it is already counted; undefined leaves it to the script. */
  readonly plan?: (counted: CountedKey) => ApiFate | undefined
}

/** What was counted under one key. */
export interface CountedKey {
  path: string
  requests: number
  effects: number
  /** What came, request by request. */
  bodies: string[]
  /** Hashes of the distinct bodies. */
  hashes: Set<string>
  /** With which credentials they came. */
  authorizations: (string | undefined)[]
}

interface Entry extends CountedKey {
  done: { hash: string; text: string } | undefined
}

const KEY = 'idempotency-key'

/** Starts the judge; it is stopped when the test ends. */
export async function countingApi(options: ApiOptions = {}): Promise<CountingApi> {
  const api = new CountingApi(options)
  await api.listen()
  closeAtEnd(() => api.stop())
  return api
}

/**
 * The judge: an API on an origin of its own that knows nothing of the library. It honours the key by a map, counts
 * what it did, fails on demand, and lets through no header that its CORS list does not name.
 */
export class CountingApi {
  readonly keys = new Map<string, CountedKey>()
  /** What should not have come. */
  readonly complaints: string[] = []
  requests = 0
  effects = 0
  replays = 0
  preflights = 0
  readonly #options: Required<Omit<ApiOptions, 'plan'>> & ApiOptions
  readonly #server: Server
  readonly #script: ApiFate[] = []
  readonly #hanging = new Set<() => void>()
  readonly #watchers = new Set<() => void>()
  #otherwise: ApiFate = 'answer'
  #token: string | undefined
  #origin = ''

  constructor(options: ApiOptions) {
    this.#options = { allowHeaders: [KEY, 'content-type'], portal: 'http://127.0.0.1:9/', slowMs: 300, ...options }
    this.#server = createServer((request, response) => {
      // A browser sends a request again by itself where a connection that it had used before is cut: none is used twice,
      // so that who tries again is the library.
      response.shouldKeepAlive = false
      this.#serve(request, response).catch((error) => {
        // Who is killed while sending is no news.
        if (request.complete) this.complaints.push(String(error))
        response.destroy()
      })
    })
  }

  get origin(): string {
    return this.#origin
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The fates of the next requests, one after the other. */
  next(...fates: readonly ApiFate[]): void {
    this.#script.push(...fates)
  }

  /** The fate of every request that has none of its own. */
  otherwise(fate: ApiFate): void {
    this.#otherwise = fate
  }

  /** From now on, who does not bring `Bearer <token>` gets a 401. */
  requireToken(token: string): void {
    this.#token = token
  }

  /** Answers what hangs. */
  release(): void {
    for (const answer of this.#hanging) answer()
    this.#hanging.clear()
  }

  /** What was counted under the one key that came. */
  get only(): CountedKey {
    const [first, ...more] = this.keys.values()
    if (!first || more.length > 0) throw new Error(`One key was expected, ${this.keys.size} came`)
    return first
  }

  /** Resolves as soon as it is true of what was counted. */
  async until(isTrue: (api: CountingApi) => boolean): Promise<void> {
    while (!isTrue(this)) await new Promise<void>((resolve) => void this.#watchers.add(resolve))
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'OPTIONS') return this.#preflight(request, response)
    // Nothing is done by it.
    if (request.method === 'HEAD') return void response.writeHead(405).end()
    const key = String(request.headers[KEY] ?? '')
    const entry = this.#entry(key, request.url ?? '')
    entry.requests++
    this.requests++
    const planned = this.#isStranger(request) ? 'unauthorized' : this.#options.plan?.(entry)
    const bytes = await bytesOf(request)
    const hash = createHash('sha256').update(bytes).digest('hex')
    entry.bodies.push(bytes.toString('utf8'))
    entry.hashes.add(hash)
    entry.authorizations.push(request.headers.authorization)
    if (entry.hashes.size > 1) this.complaints.push(`other bytes under ${key}`)
    response.setHeader('access-control-allow-origin', request.headers.origin ?? 'null')
    this.#meet(planned ?? this.#script.shift() ?? this.#otherwise, response, () => this.#work(entry, hash))
    this.#tell()
  }

  #meet(fate: ApiFate, response: ServerResponse, work: () => Answer): void {
    const fates: Record<ApiFate, () => void> = {
      answer: () => send(response, work()),
      unavailable: () => send(response, { status: 503, text: '{"error":"unavailable"}' }),
      hang: () => void this.#hanging.add(() => send(response, work())),
      'work-and-hang': () => {
        const answer = work()
        this.#hanging.add(() => send(response, answer))
      },
      lose: () => {
        work()
        response.req.socket.resetAndDestroy()
      },
      reset: () => void response.req.socket.resetAndDestroy(),
      slow: () => {
        const answer = work()
        setTimeout(() => send(response, answer), this.#options.slowMs).unref()
      },
      'captive-portal': () => void response.writeHead(302, { location: this.#options.portal }).end(),
      unauthorized: () => send(response, { status: 401, text: '{}' }),
    }
    fates[fate]()
  }

  #isStranger({ headers }: IncomingMessage): boolean {
    return this.#token !== undefined && headers.authorization !== `Bearer ${this.#token}`
  }

  /** The effect and its answer, once per key. */
  #work(entry: Entry, hash: string): Answer {
    if (entry.done && entry.done.hash !== hash) return { status: 422, text: '{"error":"other bytes"}' }
    if (entry.done) this.replays++
    else {
      this.effects++
      entry.effects++
      entry.done = { hash, text: JSON.stringify({ number: this.effects }) }
    }
    return { status: 201, text: entry.done.text }
  }

  #entry(key: string, path: string): Entry {
    const fresh = { path, requests: 0, effects: 0, bodies: [], hashes: new Set<string>(), authorizations: [] }
    const found = (this.keys.get(key) as Entry | undefined) ?? { ...fresh, done: undefined }
    this.keys.set(key, found)
    return found
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    this.preflights++
    const asked = String(request.headers['access-control-request-headers'] ?? '').split(',')
    const strange = asked.map((name) => name.trim()).filter((name) => !this.#allowed.includes(name))
    if (strange.length > 0) {
      this.complaints.push(`header not allowed: ${strange.join(', ')}`)
      return void response.writeHead(403).end()
    }
    response.writeHead(204, {
      'access-control-allow-origin': request.headers.origin ?? 'null',
      'access-control-allow-methods': 'POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': this.#allowed.join(', '),
    })
    response.end()
  }

  get #allowed(): readonly string[] {
    return this.#options.allowHeaders
  }

  #tell(): void {
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const watcher of watchers) watcher()
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

function send(response: ServerResponse, { status, text }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
