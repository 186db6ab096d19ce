import { systemClock } from '../../../foundation/clock.ts'
import { type Changed, NOW_HEADER, type Refused } from '../wire.ts'

/** The server did not take the token. */
export class TokenError extends Error {}

const STORED_TOKEN = 'holdfast-inspector-token'

/** What the last answer to a question was. */
interface Known {
  readonly etag: string
  readonly value: unknown
}

/** More questions than one view asks. */
const MOST_KNOWN = 10

/**
 * The way to the inspector's server. The token comes in the fragment of the address, which no browser sends anywhere,
 * and goes into the storage of this tab, which no other port of the machine can read.
 */
export class Api {
  readonly #known = new Map<string, Known>()
  readonly #token = takeToken()
  /** Between the clock of the inspected client and the browser's. */
  #aheadMs = 0

  get hasToken(): boolean {
    return this.#token !== ''
  }

  now(): number {
    return systemClock.now() + this.#aheadMs
  }

  /** Undefined where there is no such record. */
  async get<T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T | undefined> {
    const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
    const url = `/api/${path}?${new URLSearchParams(given)}`
    const known = this.#known.get(url)
    const response = await fetch(url, { headers: this.#headers(known && { 'if-none-match': known.etag }) })
    this.#readClock(response)
    if (response.status === 304) return known?.value as T
    if (response.status === 404) return undefined
    const value = await readAnswer(response)
    this.#remember(url, { etag: response.headers.get('etag') ?? '', value })
    return value as T
  }

  async change(path: string, body: object): Promise<string> {
    const headers = this.#headers({ 'content-type': 'application/json' })
    const response = await fetch(`/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return ((await readAnswer(response)) as Changed).message
  }

  #headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...more, authorization: `Bearer ${this.#token}` }
  }

  #remember(url: string, known: Known): void {
    this.#known.delete(url)
    this.#known.set(url, known)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > MOST_KNOWN) this.#known.delete(oldest)
  }

  #readClock({ headers }: Response): void {
    const now = Number(headers.get(NOW_HEADER))
    if (now > 0) this.#aheadMs = now - systemClock.now()
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  const value: unknown = await response.json()
  if (response.ok) return value
  const { error } = value as Refused
  throw response.status === 401 ? new TokenError(error) : new Error(error)
}

function takeToken(): string {
  const [, token] = /^#token=([\w-]+)/.exec(location.hash) ?? []
  if (token === undefined) return sessionStorage.getItem(STORED_TOKEN) ?? ''
  sessionStorage.setItem(STORED_TOKEN, token)
  // Out of the address bar and every screenshot. A browser's history file keeps the address as it was opened.
  history.replaceState(null, '', location.pathname)
  return token
}
