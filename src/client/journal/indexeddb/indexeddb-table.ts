import { get, getMany, promisifyRequest, type UseStore } from 'idb-keyval'
import { isOpen } from '../claim-rules.ts'
import type { JournalRow, PlacedRow } from '../port.ts'

/** A row as it is kept: without its bodies, and with what its indexes need. */
export interface KeptRow extends PlacedRow {
  readonly setAside: boolean
  /** Its place while somebody may want to claim it or holds it. */
  readonly openAt: number | null
  /** When it may be dropped, if ever. */
  readonly prunableAt: number | null
}

export interface Wanted {
  readonly index: 'all' | 'open'
  readonly namespace: string
  readonly after?: number
  readonly limit?: number
  readonly where?: (row: KeptRow) => boolean
}

const PAGE = 100
const NO_BODIES = { body: null, responseBody: null }

/**
 * The rows inside one transaction. Nothing but its requests may be awaited in between, or it ends too early. Writes
 * are not awaited: requests run in order, and one that fails aborts the transaction.
 */
export class IndexedDbTable {
  readonly #records: IDBObjectStore
  readonly #bodies: IDBObjectStore
  readonly #answers: IDBObjectStore

  constructor(records: IDBObjectStore) {
    this.#records = records
    this.#bodies = records.transaction.objectStore('bodies')
    this.#answers = records.transaction.objectStore('answers')
  }

  byKey(namespace: string, key: string): Promise<KeptRow | undefined> {
    return get([namespace, key], within(this.#records))
  }

  /** By id or, failing that, by key. */
  async find(namespace: string, id: string | null, key: string): Promise<KeptRow | undefined> {
    const withId = id === null ? undefined : promisifyRequest(this.#records.index('id').get([namespace, id]))
    const [sameId, sameKey] = await Promise.all([withId, this.byKey(namespace, key)])
    return sameId ?? sameKey
  }

  async select({ index, namespace, after = 0, limit = Number.POSITIVE_INFINITY, where }: Wanted): Promise<KeptRow[]> {
    const found: KeptRow[] = []
    let page: KeptRow[]
    let behind = after
    do {
      const range = IDBKeyRange.bound([namespace, behind], [namespace, Number.POSITIVE_INFINITY], true)
      page = limit > 0 ? await promisifyRequest<KeptRow[]>(this.#records.index(index).getAll(range, PAGE)) : []
      behind = page.at(-1)?.place ?? behind
      found.push(...(where ? page.filter(where) : page))
    } while (page.length === PAGE && found.length < limit)
    return found.slice(0, Math.max(0, limit))
  }

  async expired(now: number, limit: number): Promise<KeptRow[]> {
    // To the browser, a limit of 0 is none.
    const count = Math.min(limit, 2 ** 31)
    return count > 0 ? promisifyRequest(this.#records.index('expiry').getAll(IDBKeyRange.upperBound(now), count)) : []
  }

  async insert(row: JournalRow): Promise<void> {
    const place = (await promisifyRequest(this.#bodies.add(copyOf(row.body)))) as number
    this.put({ ...row, place, setAside: false }, row.responseBody)
  }

  /** Without an answer, the one that is there stays. */
  put(row: Omit<KeptRow, 'openAt' | 'prunableAt'>, answer?: Uint8Array | null): void {
    const openAt = isOpen(row) ? row.place : null
    const prunableAt = row.setAside ? null : row.expiresAt
    this.#records.put({ ...row, ...NO_BODIES, openAt, prunableAt })
    if (answer) this.#answers.put(copyOf(answer), row.place)
    else if (answer === null) this.#answers.delete(row.place)
  }

  delete({ namespace, key, place }: KeptRow): void {
    this.#records.delete([namespace, key])
    this.#bodies.delete(place)
    this.#answers.delete(place)
  }

  /** The rows as others know them. */
  async handOut(rows: readonly KeptRow[]): Promise<PlacedRow[]> {
    const places = rows.map((row) => row.place)
    const [bodies, answers] = await Promise.all([
      getMany<Uint8Array | null>(places, within(this.#bodies)),
      getMany<Uint8Array>(places, within(this.#answers)),
    ])
    return rows.map(({ setAside: _, openAt: __, prunableAt: ___, ...row }, at) => {
      return { ...row, body: bodies[at] ?? null, responseBody: answers[at] ?? null }
    })
  }
}

/** A store inside the running transaction, for idb-keyval. */
function within(store: IDBObjectStore): UseStore {
  return async (_mode, use) => use(store)
}

/** A view drags everything along that its buffer holds. */
function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes)
}
