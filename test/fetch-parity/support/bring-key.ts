import type { Fetch } from './scene.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])
const NAME = 'Idempotency-Key'

export interface KeyedFetch {
  readonly fetch: Fetch
  /** How many requests got a key. */
  readonly keys: () => number
}

/** A fetch whose unsafe requests bring a key of their own; what can't be understood is passed on as it is. */
export function bringKeys(fetch: Fetch): KeyedFetch {
  let keys = 0
  const withKey: Fetch = (...args) => {
    const key = `case-key-${1000 + keys}`
    const [input, init] = args
    const method = String(init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
    if (SAFE.has(method) || !isPlain(init)) return fetch(...args)
    if (input instanceof Request && init?.headers === undefined) {
      keys++
      input.headers.set(NAME, key)
      return fetch(...args)
    }
    const headers = headersWith(init?.headers, key)
    if (!headers) return fetch(...args)
    keys++
    return fetch(input, { ...init, headers })
  }
  return { fetch: withKey, keys: () => keys }
}

/** Of an object with a class of its own, or with getters, a copy is not the same. */
function isPlain(init: RequestInit | null | undefined): boolean {
  if (init === undefined) return true
  if (init === null || Object.getPrototypeOf(init) !== Object.prototype) return false
  return Object.values(Object.getOwnPropertyDescriptors(init)).every(({ get }) => get === undefined)
}

function headersWith(headers: RequestInit['headers'], key: string): [string, string][] | undefined {
  if (headers === undefined) return [[NAME, key]]
  if (headers === null || typeof headers !== 'object') return undefined
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers)
  return [...entries, [NAME, key]] as [string, string][]
}
