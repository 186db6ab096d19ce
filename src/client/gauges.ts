import type { ClientGauges, OriginGauges } from '../observe/port.ts'
import type { Engine } from './engine/engine.ts'
import { listStored } from './engine/recover/stored-operations.ts'

const PAGE = 100

/** What telemetry reads of a client. */
export function gaugesOf(engine: Engine): ClientGauges {
  const { keeper } = engine
  return {
    get isJournalOpen() {
      return keeper.opened
    },
    origins: () => originGauges(engine),
    operations: (query) => listStored(engine, query),
    undelivered: (limit) => countUndelivered(engine, limit),
  }
}

function* originGauges({ gates, clock }: Engine): Generator<OriginGauges> {
  const now = clock.now()
  for (const [origin, { view, oldestAt = now }] of gates.entries()) {
    const { tokens, waiting, inFlight } = view
    yield { origin, tokens, waiting, inFlight, waitedMs: Math.max(0, now - oldestAt) }
  }
}

/** Page by page: the bodies of one are in memory. */
async function countUndelivered({ keeper, options }: Engine, limit: number): Promise<number> {
  let count = 0
  for (let after = 0, more = true; more && count < limit; ) {
    const query = {
      namespace: options.namespace,
      undelivered: true,
      after,
      limit: Math.min(PAGE, limit - count),
    } as const
    const page = await keeper.list(query)
    count += page.records.length
    after = page.last
    more = page.more
  }
  return count
}
