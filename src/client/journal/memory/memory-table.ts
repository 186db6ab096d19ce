import { isOpen } from '../claim-rules.ts'
import type { PlacedRow } from '../port.ts'
import { PlaceIndex } from './place-index.ts'

/** A row as it is kept; replaced as a whole, never changed in place. */
export interface KeptRow extends PlacedRow {
  readonly setAside: boolean
}

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

  byKey(namespace: string, key: string): KeptRow | undefined {
    return this.#at(this.#shelves.get(namespace)?.byKey.get(key))
  }

  byId(namespace: string, id: string): KeptRow | undefined {
    return this.#at(this.#shelves.get(namespace)?.byId.get(id))
  }

  *open(namespace: string, after = 0): IterableIterator<KeptRow> {
    yield* this.#walk(this.#shelves.get(namespace)?.open, after)
  }

  *all(namespace: string, after = 0): IterableIterator<KeptRow> {
    yield* this.#walk(this.#shelves.get(namespace)?.all, after)
  }

  *expiring(): IterableIterator<KeptRow> {
    for (const place of this.#expiring) yield this.#rows.get(place) as KeptRow
  }

  *#walk(index: PlaceIndex | undefined, after: number): IterableIterator<KeptRow> {
    if (index) for (const place of index.after(after)) yield this.#rows.get(place) as KeptRow
  }

  #at(place: number | undefined): KeptRow | undefined {
    return place === undefined ? undefined : this.#rows.get(place)
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
