import { randomUUID } from 'node:crypto'
import { encodeRecord } from '../../src/client/operation/codec.ts'
import type { OperationRecord } from '../../src/client/operation/record.ts'
import { nodeDigest } from '../../src/foundation/node-digest.ts'
import type { Journal, JournalCommand } from '../../src/index.ts'

export interface RowsWanted {
  readonly origin: string
  readonly count: number
  readonly status: 'pending' | 'succeeded'
  readonly path?: string
}

/** Fills a journal as if so many operations had been accepted, and some of them done, by processes now gone. */
export async function fillJournal(journal: Journal, wanted: RowsWanted): Promise<void> {
  const batch: JournalCommand[] = []
  for (let number = 0; number < wanted.count; number++) {
    const made = record(wanted, number)
    const row = { ...encodeRecord(made), body: made.request.body, responseBody: null }
    batch.push({ do: 'append', row })
    if (batch.length === 2000 || number === wanted.count - 1) await journal.execute(batch.splice(0))
  }
}

function record({ origin, status, path = '/charges' }: RowsWanted, number: number): OperationRecord {
  const now = Date.now()
  const isDone = status === 'succeeded'
  const body = bytes(`{"number":${number}}`)
  return {
    namespace: 'default',
    key: randomUUID(),
    id: isDone ? `order:${number}` : undefined,
    name: undefined,
    metadata: undefined,
    lane: undefined,
    laneOnFailure: 'stop',
    request: {
      method: 'POST',
      url: `${origin}${path}`,
      origin,
      headers: [['content-type', 'application/json']],
      withheld: [],
      body,
    },
    fingerprint: String(nodeDigest(['POST', `${origin}${path}`], body)),
    honoursKeys: true,
    acceptedAt: now,
    horizonAt: now + 3_600_000,
    status,
    attempts: [],
    attemptCount: 0,
    inFlightSince: undefined,
    effect: isDone ? 'applied' : 'none',
    notBefore: 0,
    dueAt: 0,
    fruitlessRuns: 0,
    deaths: 0,
    holdsLane: false,
    heldBy: undefined,
    settledAt: isDone ? now : undefined,
    overdueAt: undefined,
    expiresAt: isDone ? now + 3_600_000 : undefined,
    reason: undefined,
    response: undefined,
    error: undefined,
    mayHaveRepeated: false,
    deliveryDue: false,
    carriedOn: false,
    awaited: false,
    lease: undefined,
    epoch: 0,
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
