import type { List } from '../../journal/port.ts'
import type { PlacedRecord } from '../../journal/record-keeper.ts'
import { DEAD_STATUSES, type DeadLetter, deadLetterOf, isDeadLetter } from '../../operation/dead-letter.ts'
import type { Engine } from '../engine.ts'

const PAGE = 100

export interface DeadLetterQuery {
  readonly limit?: number | undefined
  readonly after?: string | undefined
}

/**
 * The dead letters of the namespace in the order of acceptance. Each status is listed by the journal, page by page, and
 * the lists are merged. Of those that succeeded or were cancelled, only the ones that wait for a handler are read.
 */
export async function* listDeadLetters(engine: Engine, query: DeadLetterQuery): AsyncGenerator<DeadLetter> {
  const { keeper, options, clock } = engine
  await keeper.open()
  const behind = query.after === undefined ? 0 : await keeper.placeOf(options.namespace, query.after)
  const after = behind ?? Number.MAX_SAFE_INTEGER
  let left = query.limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  const lists = [...DEAD_STATUSES.map((status) => ({ status })), { undelivered: true } as const]
  for await (const { record } of inOrder(lists.map((list) => deadOf(engine, list, after)))) {
    yield deadLetterOf(record, clock.now())
    if (--left <= 0) return
  }
}

async function* deadOf(
  { keeper, options, clock }: Engine,
  wanted: Pick<List, 'status' | 'undelivered'>,
  from: number,
): AsyncGenerator<PlacedRecord> {
  for (let after = from; ; ) {
    const page = await keeper.list({ namespace: options.namespace, ...wanted, after, limit: PAGE })
    for (const placed of page.records) {
      const isListedByStatus = wanted.undelivered && DEAD_STATUSES.includes(placed.record.status)
      if (!isListedByStatus && isDeadLetter(placed.record, clock.now())) yield placed
    }
    if (!page.more) return
    after = page.last
  }
}

/** Merges lists that are each in the order of acceptance. */
async function* inOrder(lists: readonly AsyncGenerator<PlacedRecord>[]): AsyncGenerator<PlacedRecord> {
  // Asked for together, the first pages share one look at the journal.
  let heads = await Promise.all(lists.map(async (list) => ({ list, next: await list.next() })))
  for (;;) {
    heads = heads.filter(({ next }) => !next.done)
    if (heads.length === 0) return
    const first = heads.reduce((one, other) => (other.next.value.place < one.next.value.place ? other : one))
    yield first.next.value
    first.next = await first.list.next()
  }
}
