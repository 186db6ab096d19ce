import { promisifyRequest } from 'idb-keyval'
import type { JournalRow, PlacedRow, Survey, SurveyResult } from '../port.ts'
import {
  claimableAt,
  claimableBehindAt,
  dueKind,
  dueTime,
  isOpenRow,
  type KeptRow,
  type Wanted,
  type WantedExpired,
  type WantedFirst,
  type WantedInOrder,
  type WantedOne,
  waitsInLane,
} from '../row-commands.ts'

/** What is kept of a row beside its bodies, with what its indexes need. */
interface IndexedRow extends KeptRow {
  /** Its place while it is open. */
  readonly openAt: number | null
  /** When it may be dropped, if ever. */
  readonly prunableAt: number | null
  readonly dueKind: string | null
  readonly claimableAt: number
  /** Its place while it holds its lane. */
  readonly laneAt: number | null
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

  constructor(transaction: IDBTransaction) {
    this.#records = transaction.objectStore('records')
    this.#bodies = transaction.objectStore('bodies')
    this.#answers = transaction.objectStore('answers')
  }

  async find(wanted: Wanted): Promise<KeptRow[]> {
    if (wanted.index === 'key') return this.#named(wanted)
    if (wanted.index === 'lane') return this.#firstInLane(wanted)
    return wanted.index === 'expiry' ? this.#expired(wanted) : this.#inOrder(wanted)
  }

  async #named({ namespace, key, id }: WantedOne): Promise<KeptRow[]> {
    const withId = typeof id === 'string' && promisifyRequest(this.#records.index('id').get([namespace, id]))
    const [sameId, sameKey] = await Promise.all([withId, promisifyRequest(this.#records.get([namespace, key]))])
    const row: KeptRow | undefined = sameId || sameKey
    return row ? [row] : []
  }

  async #firstInLane({ namespace, lane }: WantedFirst): Promise<KeptRow[]> {
    const row = await this.#nextIn('lane', [namespace, lane])
    return row?.lane === lane ? [row] : []
  }

  /** Those that may be claimed at this time: in their lane, the first only. `heads`: the first places that are known. */
  async #inTurn(rows: readonly KeptRow[], at: number, heads: Map<string, number>): Promise<KeptRow[]> {
    const found: KeptRow[] = []
    for (const row of rows) {
      const place = waitsInLane(row, at) ? await this.#headOf(row as WantedFirst & KeptRow, heads) : row.place
      if (place === row.place) found.push(row)
    }
    return found
  }

  async #headOf(row: WantedFirst & KeptRow, heads: Map<string, number>): Promise<number> {
    const known = heads.get(row.lane)
    if (known !== undefined) return known
    const [first] = await this.#firstInLane(row)
    const place = first?.place ?? 0
    heads.set(row.lane, place)
    return place
  }

  async #inOrder(wanted: WantedInOrder): Promise<KeptRow[]> {
    const { index, namespace, after = 0, limit = Number.POSITIVE_INFINITY, where, turnAt } = wanted
    const found: KeptRow[] = []
    const heads = new Map<string, number>()
    let page: KeptRow[]
    let behind = after
    do {
      const range = IDBKeyRange.bound([namespace, behind], [namespace, Number.POSITIVE_INFINITY], true)
      page = limit > 0 ? await promisifyRequest<KeptRow[]>(this.#records.index(index).getAll(range, PAGE)) : []
      behind = page.at(-1)?.place ?? behind
      const fitting = where ? page.filter(where) : page
      found.push(...(turnAt === undefined ? fitting : await this.#inTurn(fitting, turnAt, heads)))
    } while (page.length === PAGE && found.length < limit)
    return found.slice(0, Math.max(0, limit))
  }

  /** Looks at one row of each due kind and of each lane, and two of each owner, however many rows are open. */
  async survey(survey: Survey): Promise<SurveyResult> {
    return { owners: await this.#owners(survey), nextDueAt: await this.#nextDueAt(survey) }
  }

  async #nextDueAt(survey: Survey): Promise<number | undefined> {
    let soonest = Number.POSITIVE_INFINITY
    let hasLanes = false
    for (let row = await this.#nextIn('due', [survey.namespace]); row; ) {
      // Of its kind, it is the earliest.
      soonest = Math.min(soonest, dueTime(row, survey, claimableBehindAt))
      // Rows with a lane have a version, and so a kind, of their own.
      hasLanes ||= typeof row.lane === 'string'
      row = await this.#nextIn('due', [survey.namespace, row.dueKind as string, Number.POSITIVE_INFINITY])
    }
    for (let row = hasLanes ? await this.#nextIn('lane', [survey.namespace]) : undefined; row; ) {
      soonest = Math.min(soonest, dueTime(row, survey, claimableAt))
      row = await this.#nextIn('lane', [survey.namespace, row.lane as string, Number.POSITIVE_INFINITY])
    }
    return soonest < Number.POSITIVE_INFINITY ? soonest : undefined
  }

  async #owners({ namespace, now }: Survey): Promise<string[]> {
    const owners: string[] = []
    for (let row = await this.#nextIn('lease', [namespace]); row; ) {
      const owner = row.owner as string
      const inForce = await this.#nextIn('lease', [namespace, owner, now])
      if (inForce?.owner === owner) owners.push(owner)
      row = await this.#nextIn('lease', [namespace, owner, Number.POSITIVE_INFINITY])
    }
    return owners
  }

  /** The first row of the namespace behind this key; an empty array is greater than any text or number. */
  #nextIn(
    index: 'due' | 'lease' | 'lane',
    behind: [namespace: string, ...IDBValidKey[]],
  ): Promise<IndexedRow | undefined> {
    return promisifyRequest(this.#records.index(index).get(IDBKeyRange.bound(behind, [behind[0], []], true)))
  }

  async #expired({ now, limit }: WantedExpired): Promise<KeptRow[]> {
    // To the browser, a limit of 0 is none.
    const count = Math.min(limit, 2 ** 31)
    return count > 0 ? promisifyRequest(this.#records.index('expiry').getAll(IDBKeyRange.upperBound(now), count)) : []
  }

  async insert(row: JournalRow): Promise<void> {
    const place = (await promisifyRequest(this.#bodies.add(copyBytes(row.body)))) as number
    this.put({ ...row, place, setAside: false }, row.responseBody)
  }

  /** Without an answer, the one that is there stays. */
  put(row: KeptRow, answer?: Uint8Array | null): void {
    this.#records.put({ ...indexed(row), ...NO_BODIES })
    if (answer) this.#answers.put(copyBytes(answer), row.place)
    else if (answer === null) this.#answers.delete(row.place)
  }

  dropBody({ place }: KeptRow): void {
    this.#bodies.delete(place)
  }

  delete({ namespace, key, place }: KeptRow): void {
    this.#records.delete([namespace, key])
    this.#bodies.delete(place)
    this.#answers.delete(place)
  }

  /** The rows with their bodies, without what only this table needs. */
  async handOut(rows: readonly KeptRow[]): Promise<PlacedRow[]> {
    return Promise.all(
      (rows as IndexedRow[]).map(async (row) => {
        const requests = [this.#bodies.get(row.place), this.#answers.get(row.place)]
        const [body = null, responseBody = null] = await Promise.all(
          requests.map((request) => promisifyRequest(request)),
        )
        return { ...withoutIndexes(row), body, responseBody }
      }),
    )
  }
}

/** A null is no key: a row without an id, an owner, an end, or not open, is not in the respective index. */
export function indexed(row: KeptRow): IndexedRow {
  const openAt = isOpenRow(row) ? row.place : null
  const prunableAt = row.setAside ? null : row.expiresAt
  const laneAt = typeof row.laneUntil === 'number' ? row.place : null
  return { ...row, openAt, prunableAt, dueKind: dueKind(row), claimableAt: claimableBehindAt(row), laneAt }
}

function withoutIndexes(row: IndexedRow): PlacedRow {
  const { setAside: _, openAt: __, prunableAt: ___, dueKind: ____, claimableAt: _____, laneAt: ______, ...placed } = row
  // Rows of an earlier version of the database have no lane.
  return { ...placed, lane: placed.lane ?? null, laneUntil: placed.laneUntil ?? null }
}

/** A view would be stored with its whole buffer. */
function copyBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes)
}
