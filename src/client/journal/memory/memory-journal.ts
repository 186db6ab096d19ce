import { asStorageError } from '../as-storage-error.ts'
import { localPeers } from '../local-peers.ts'
import type { Journal, JournalCommand, JournalResult, JournalRow, PlacedRow, Survey, SurveyResult } from '../port.ts'
import {
  claimableAt,
  claimableBehindAt,
  dueTime,
  isOpenRow,
  type KeptRow,
  planOf,
  type Wanted,
  type WantedInOrder,
  waitsInLane,
} from '../row-commands.ts'

/**
 * A journal that lives as long as this object: nothing survives the process. Clients that are given the
 * same object share it; closing it drops nothing, since another client may still use it.
 */
export function memoryJournal(): Journal {
  const table = new MemoryTable()
  const { execute } = table
  return { level: 'memory', open: async () => {}, close: async () => {}, execute, ...localPeers(table) }
}

/** The indexes of one namespace. */
interface Shelf {
  readonly byKey: Map<string, number>
  readonly byId: Map<string, number>
  readonly all: PlaceIndex
  /** The rows of `isOpenRow`: settled ones are not here, however many there are. */
  readonly open: PlaceIndex
  /** The rows that hold a lane, by lane. */
  readonly lanes: Map<string, PlaceIndex>
}

/** Rows with their indexes. A batch that fails is undone from `#before`. */
export class MemoryTable {
  readonly #rows = new Map<number, KeptRow>()
  readonly #shelves = new Map<string, Shelf>()
  readonly #expiring = new Set<number>()
  /** What the running batch has replaced, oldest first; undefined: the place was empty. */
  #before: [place: number, row: KeptRow | undefined][] = []
  #lastPlace = 0

  readonly execute = async (commands: readonly JournalCommand[]): Promise<JournalResult[]> => {
    this.#before = []
    const results: JournalResult[] = []
    try {
      for (const command of commands) results.push(this.#run(command))
      return results
    } catch (error) {
      for (const [place, row] of this.#before.splice(0).reverse()) this.#set(place, row)
      throw asStorageError(error, 'The journal in memory failed', 'none')
    }
  }

  #run(command: JournalCommand): JournalResult {
    if (command.do === 'survey') return this.#survey(command)
    const { wanted, decide } = planOf(command)
    const { insert, put, responseBody, delete: deleted, handOut, answer } = decide(this.find(wanted))
    if (insert) {
      const place = ++this.#lastPlace
      this.#set(place, { ...withOwnBytes(insert), setAside: false, place })
    }
    for (const row of put ?? []) {
      this.#set(row.place, responseBody ? { ...row, responseBody: new Uint8Array(responseBody) } : row)
    }
    for (const { place } of deleted ?? []) this.#set(place, undefined)
    return typeof answer === 'function' ? answer(handOut?.map(withoutFlags) ?? []) : answer
  }

  /** The rows themselves, not copies. */
  find(wanted: Wanted): KeptRow[] {
    if (wanted.index === 'key') {
      const { namespace, key, id } = wanted
      const shelf = this.#shelves.get(namespace)
      const place = (typeof id === 'string' ? shelf?.byId.get(id) : undefined) ?? shelf?.byKey.get(key)
      return place === undefined ? [] : [this.#rows.get(place) as KeptRow]
    }
    if (wanted.index === 'lane') {
      const place = this.#shelves.get(wanted.namespace)?.lanes.get(wanted.lane)?.first
      return place === undefined ? [] : [this.#rows.get(place) as KeptRow]
    }
    const { limit = Number.POSITIVE_INFINITY, where } = wanted
    const found: KeptRow[] = []
    const places = wanted.index === 'expiry' ? this.#expiring : this.#inOrder(wanted)
    const turnAt = wanted.index === 'open' ? wanted.turnAt : undefined
    for (const place of places) {
      if (found.length >= limit) break
      const row = this.#rows.get(place) as KeptRow
      if (where && !where(row)) continue
      if (turnAt === undefined || !waitsInLane(row, turnAt) || !this.#isBehind(row)) found.push(row)
    }
    return found
  }

  #inOrder(wanted: Pick<WantedInOrder, 'namespace' | 'index' | 'after'>): Iterable<number> {
    return this.#shelves.get(wanted.namespace)?.[wanted.index].after(wanted.after ?? 0) ?? []
  }

  #isBehind({ namespace, lane, place }: KeptRow): boolean {
    const first = lane === null ? place : this.#shelves.get(namespace)?.lanes.get(lane)?.first
    return first !== undefined && first < place
  }

  #survey(survey: Survey): SurveyResult {
    const owners = new Set<string>()
    let soonest = Number.POSITIVE_INFINITY
    for (const place of this.#inOrder({ namespace: survey.namespace, index: 'open' })) {
      const row = this.#rows.get(place) as KeptRow
      if (row.owner !== null && row.leaseUntil > survey.now) owners.add(row.owner)
      soonest = Math.min(soonest, dueTime(row, survey, this.#isBehind(row) ? claimableBehindAt : claimableAt))
    }
    return { owners: [...owners], nextDueAt: soonest < Number.POSITIVE_INFINITY ? soonest : undefined }
  }

  /** The row of a place, with every index; undefined empties the place. */
  #set(place: number, row: KeptRow | undefined): void {
    const before = this.#rows.get(place)
    this.#before.push([place, before])
    if (!row) {
      if (before) this.#drop(before)
      return
    }
    this.#rows.set(place, row)
    const shelf = before ? (this.#shelves.get(row.namespace) as Shelf) : this.#enter(row)
    if (isOpenRow(row)) shelf.open.add(place)
    else shelf.open.delete(place)
    if (row.lane !== null) placeInLane(shelf, row.lane, row)
    if (row.expiresAt === null) this.#expiring.delete(place)
    else this.#expiring.add(place)
  }

  /** The indexes of what never changes in a row. */
  #enter({ namespace, key, id, place }: KeptRow): Shelf {
    let shelf = this.#shelves.get(namespace)
    if (!shelf) {
      shelf = { byKey: new Map(), byId: new Map(), all: new PlaceIndex(), open: new PlaceIndex(), lanes: new Map() }
      this.#shelves.set(namespace, shelf)
    }
    shelf.byKey.set(key, place)
    if (id !== null) shelf.byId.set(id, place)
    shelf.all.add(place)
    return shelf
  }

  #drop({ namespace, key, id, lane, place }: KeptRow): void {
    const shelf = this.#shelves.get(namespace) as Shelf
    this.#rows.delete(place)
    shelf.byKey.delete(key)
    if (id !== null) shelf.byId.delete(id)
    shelf.all.delete(place)
    shelf.open.delete(place)
    if (lane !== null) placeInLane(shelf, lane, { place, laneUntil: null })
    this.#expiring.delete(place)
    if (shelf.all.size === 0) this.#shelves.delete(namespace)
  }
}

/** Among those that hold the lane, or no longer. */
function placeInLane({ lanes }: Shelf, lane: string, { place, laneUntil }: Pick<KeptRow, 'place' | 'laneUntil'>): void {
  const holders = lanes.get(lane) ?? new PlaceIndex()
  if (laneUntil === null) holders.delete(place)
  else holders.add(place)
  if (holders.size > 0) lanes.set(lane, holders)
  else lanes.delete(lane)
}

/** Places in ascending order. New places are the highest, so adding is nearly always a push. */
class PlaceIndex {
  readonly #places: number[] = []

  get size(): number {
    return this.#places.length
  }

  get first(): number | undefined {
    return this.#places[0]
  }

  add(place: number): void {
    const last = this.#places.at(-1)
    if (last === undefined || last < place) return void this.#places.push(place)
    const at = this.#firstFrom(place)
    if (this.#places[at] !== place) this.#places.splice(at, 0, place)
  }

  delete(place: number): void {
    const at = this.#firstFrom(place)
    if (this.#places[at] === place) this.#places.splice(at, 1)
  }

  /** The places behind `place`, in order. Not to be changed while it is being walked. */
  *after(place: number): IterableIterator<number> {
    for (let at = this.#firstFrom(place + 1); at < this.#places.length; at++) yield this.#places[at] as number
  }

  /** Where the first place stands that is not below the given one. */
  #firstFrom(place: number): number {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle] as number) < place) low = middle + 1
      else high = middle
    }
    return low
  }
}

function withoutFlags({ setAside: _, ...row }: KeptRow): PlacedRow {
  return withOwnBytes(row)
}

/** Bytes are copied on their way in and out: a caller that changes its array must not change the record. */
function withOwnBytes<Row extends JournalRow>(row: Row): Row {
  const { body, responseBody } = row
  return { ...row, body: body && new Uint8Array(body), responseBody: responseBody && new Uint8Array(responseBody) }
}
