import { isOpen } from '../claim-rules.ts'
import type { KeptRow, Wanted, WantedDue, WantedExpired, WantedInOrder, WantedOne } from '../row-commands.ts'
import { PlaceIndex } from './place-index.ts'

interface Shelf {
  readonly byKey: Map<string, number>
  readonly byId: Map<string, number>
  readonly all: PlaceIndex
  /** Rows that somebody may want to claim or holds; settled ones are not here, however many there are. */
  readonly open: PlaceIndex
}

/** Rows with their indexes, and a log to undo what the running batch has done. */
export class MemoryTable {
  readonly #rows = new Map<number, KeptRow>()
  readonly #shelves = new Map<string, Shelf>()
  readonly #expiring = new Set<number>()
  #undo: (() => void)[] = []
  #lastPlace = 0

  insert(row: Omit<KeptRow, 'place'>): void {
    this.put({ ...row, place: ++this.#lastPlace })
  }

  put(row: KeptRow): void {
    const before = this.#rows.get(row.place)
    this.#undo.push(() => (before ? this.#store(before) : this.#drop(row.place)))
    this.#store(row)
  }

  delete(row: KeptRow): void {
    this.#undo.push(() => this.#store(row))
    this.#drop(row.place)
  }

  keep(): void {
    this.#undo = []
  }

  undo(): void {
    for (const step of this.#undo.reverse()) step()
    this.#undo = []
  }

  find(wanted: Wanted): KeptRow[] {
    if (wanted.index === 'key') return this.#named(wanted)
    if (wanted.index === 'due') return this.#due(wanted)
    const { limit = Number.POSITIVE_INFINITY, where } = wanted
    const found: KeptRow[] = []
    for (const place of this.#places(wanted)) {
      if (found.length >= limit) break
      const row = this.#rows.get(place) as KeptRow
      if (!where || where(row)) found.push(row)
    }
    return found
  }

  #named({ namespace, key, id }: WantedOne): KeptRow[] {
    const shelf = this.#shelves.get(namespace)
    const place = (typeof id === 'string' ? shelf?.byId.get(id) : undefined) ?? shelf?.byKey.get(key)
    return place === undefined ? [] : [this.#rows.get(place) as KeptRow]
  }

  #due({ namespace, dueTime }: WantedDue): KeptRow[] {
    let first: KeptRow | undefined
    let soonest = Number.POSITIVE_INFINITY
    for (const place of this.#shelves.get(namespace)?.open.after(0) ?? []) {
      const row = this.#rows.get(place) as KeptRow
      const dueAt = dueTime(row)
      if (dueAt === undefined || dueAt >= soonest) continue
      first = row
      soonest = dueAt
    }
    return first ? [first] : []
  }

  #places(wanted: WantedInOrder | WantedExpired): Iterable<number> {
    if (wanted.index === 'expiry') return this.#expiring
    return this.#shelves.get(wanted.namespace)?.[wanted.index].after(wanted.after ?? 0) ?? []
  }

  #store(row: KeptRow): void {
    const shelf = this.#shelf(row.namespace)
    this.#rows.set(row.place, row)
    shelf.byKey.set(row.key, row.place)
    if (row.id !== null) shelf.byId.set(row.id, row.place)
    shelf.all.add(row.place)
    if (isOpen(row)) shelf.open.add(row.place)
    else shelf.open.delete(row.place)
    if (row.expiresAt === null) this.#expiring.delete(row.place)
    else this.#expiring.add(row.place)
  }

  #drop(place: number): void {
    const row = this.#rows.get(place)
    if (!row) return
    const shelf = this.#shelf(row.namespace)
    this.#rows.delete(place)
    shelf.byKey.delete(row.key)
    if (row.id !== null) shelf.byId.delete(row.id)
    shelf.all.delete(place)
    shelf.open.delete(place)
    this.#expiring.delete(place)
    if (shelf.all.size === 0) this.#shelves.delete(row.namespace)
  }

  #shelf(namespace: string): Shelf {
    let shelf = this.#shelves.get(namespace)
    if (!shelf) {
      shelf = { byKey: new Map(), byId: new Map(), all: new PlaceIndex(), open: new PlaceIndex() }
      this.#shelves.set(namespace, shelf)
    }
    return shelf
  }
}
