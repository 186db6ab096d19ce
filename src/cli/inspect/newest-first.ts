import type { PlacedRecord, RecordKeeper } from '../../client/journal/record-keeper.ts'
import type { OperationRecord, OperationStatus } from '../../client/operation/record.ts'

export interface BackwardQuery {
  readonly status: OperationStatus | undefined
  /** Only records at smaller places; undefined: from the newest on. */
  readonly before: number | undefined
  readonly limit: number
  readonly matches: (record: OperationRecord) => boolean
}

export interface BackwardPage {
  readonly found: readonly PlacedRecord[]
  /** What was not looked at is before this place; undefined: everything was. */
  readonly next: number | undefined
  readonly looked: number
}

/** So many records at most are looked at for one page: a search that finds little must not read a whole journal. */
const MOST_LOOKED_AT = 5000
const CHUNK = 100

/**
 * Reads a journal from the newest record to the oldest. Journals list in the order of acceptance, behind a place, so
 * this looks at windows of places from the end:
 *
 *     place   1 ........................................ newest
 *                       └─ width 400 ─┴─ 200 ─┴ 100 ┘
 *
 * A window that holds more than a chunk is halved; one that holds less than half of it is followed by one twice as wide.
 */
export class NewestFirst {
  readonly #keeper: Pick<RecordKeeper, 'open' | 'list'>
  readonly #namespace: string
  /** No record known to the last search was behind it. */
  #end = 1

  constructor(keeper: Pick<RecordKeeper, 'open' | 'list'>, namespace: string) {
    this.#keeper = keeper
    this.#namespace = namespace
  }

  async page({ status, before, limit, matches }: BackwardQuery): Promise<BackwardPage> {
    await this.#keeper.open()
    const found: PlacedRecord[] = []
    let looked = 0
    let width = CHUNK
    let end = before ?? (await this.#findEnd())
    while (end > 1 && looked < MOST_LOOKED_AT) {
      const start = Math.max(1, end - width)
      const window = await this.#window(status, start, end)
      if (!window) {
        width = Math.ceil(width / 2)
        continue
      }
      for (const placed of window.reverse()) {
        looked++
        if (!matches(placed.record)) continue
        if (found.length === limit) return { found, next: placed.place + 1, looked }
        found.push(placed)
      }
      if (window.length < CHUNK / 2) width *= 2
      end = start
    }
    return { found, next: end > 1 ? end : undefined, looked }
  }

  /** The records from place `start` to before `end`; undefined where these are more than a chunk. */
  async #window(status: OperationStatus | undefined, start: number, end: number): Promise<PlacedRecord[] | undefined> {
    const query = { namespace: this.#namespace, status, after: start - 1, limit: CHUNK }
    const { records, last, more } = await this.#keeper.list(query)
    return more && last < end - 1 ? undefined : records.filter(({ place }) => place < end)
  }

  /** The first place behind all records: doubles the step until nothing is behind, then halves it. */
  async #findEnd(): Promise<number> {
    let low = this.#end
    let high = low
    for (let step = 1; await this.#isAnythingFrom(high); step *= 2) {
      low = high
      high = low + step
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (await this.#isAnythingFrom(middle)) low = middle
      else high = middle
    }
    this.#end = high
    return high
  }

  async #isAnythingFrom(place: number): Promise<boolean> {
    const { more } = await this.#keeper.list({
      namespace: this.#namespace,
      status: undefined,
      after: place - 1,
      limit: 1,
    })
    return more
  }
}
