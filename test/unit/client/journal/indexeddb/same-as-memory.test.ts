import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../../../../src/client/journal/memory/memory-journal.ts'
import type { JournalCommand, JournalResult, JournalRow, SurveyResult } from '../../../../../src/client/journal/port.ts'
import {
  change,
  claimByKey,
  claimCommand,
  fence,
  list,
  row,
} from '../../../../../src/testing/contracts/journal/sample-row.ts'
import { emptyBrowser, forgetAll, openJournal } from './scratch.ts'

emptyBrowser()

// Few of each, so that commands meet the rows of others.
const key = fc.constantFrom('a', 'b', 'c')
const namespace = fc.constantFrom('one', 'one', 'one', 'two')
const owner = fc.constantFrom('me', 'you')
const time = fc.nat(4)
const limit = fc.constantFrom(-1, 0, 1, 2, 100, Number.POSITIVE_INFINITY)
const bytes = fc.option(fc.uint8Array({ maxLength: 3 }))
const origin = fc.constantFrom('https://a.example', 'https://b.example')
const name = fc.option(fc.constantFrom('x', 'y'))
const status = fc.constantFrom<JournalRow['status']>('pending', 'succeeded', 'failed')
const deliverNames = fc.oneof(fc.constant('*' as const), fc.subarray(['x', 'y']))
const exceptOrigins = fc.subarray(['https://a.example', 'https://b.example'])
const origins = fc.oneof(fc.constant('*' as const), exceptOrigins)

const changing = {
  status,
  owner: fc.option(owner),
  leaseUntil: time,
  dueAt: time,
  notBefore: time,
  deliveryDue: fc.boolean(),
  expiresAt: fc.option(time),
  responseBody: bytes,
}
const rows = fc.record({
  ...changing,
  namespace,
  name,
  origin,
  body: bytes,
  id: fc.option(key),
  epoch: fc.nat(1),
  version: fc.constantFrom(1, 1, 1, 2),
})
const fences = fc.record({ namespace, owner, epoch: fc.nat(2) })
const claimants = { namespace, owner, now: time, leaseUntil: time, deadOwners: fc.subarray(['me', 'you']) }
const claims = fc.record({ ...claimants, limit, dueBy: time, after: time, deliverNames, origins, exceptOrigins })

const command: fc.Arbitrary<JournalCommand> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(key, rows).map(([at, more]) => ({ do: 'append', row: row(at, more) }) as const) },
  fc.tuple(key, fences, fc.record(changing)).map(([at, more, changed]) => {
    return { do: 'write', ...fence(at, more), change: change(changed) } as const
  }),
  fc
    .tuple(key, fences, fc.oneof(fc.constantFrom('remove', 'set-aside'), fc.record({ leaseUntil: time })))
    .map(([at, more, changed]) => ({ do: 'write', ...fence(at, more), change: changed }) as const),
  claims.map((more) => claimCommand(more)),
  fc
    .tuple(key, fc.record({ ...claimants, statuses: fc.subarray(['pending', 'failed'] as const) }))
    .map(([at, more]) => claimByKey(at, more)),
  fc.record({ do: fc.constant('read' as const), namespace, keyOrId: key }),
  fc.record({ namespace, status: fc.option(status, { nil: undefined }), after: time, limit }).map((more) => list(more)),
  fc.record({ do: fc.constant('survey' as const), namespace, now: time, deliverNames, origins, exceptOrigins }),
  fc.record({ do: fc.constant('drop' as const), namespace }),
  fc.record({
    do: fc.constant('drop' as const),
    expiredBy: time,
    limit: fc.constantFrom(0, 100, Number.POSITIVE_INFINITY),
  }),
)

describe('the journal in IndexedDB', () => {
  it('answers whatever it is asked as the one in memory does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(command, { maxLength: 6 }), { maxLength: 12 }), async (batches) => {
        forgetAll()
        const [journal, model] = [await openJournal(), memoryJournal()]
        for (const batch of batches) {
          expect(comparable(await journal.execute(batch))).toEqual(comparable(await model.execute(batch)))
        }
        await journal.close()
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

/** Owners come in no order. */
function comparable(results: readonly JournalResult[]): unknown {
  return results.map((result) => {
    const { owners } = (result ?? {}) as Partial<SurveyResult>
    return owners ? { ...(result as SurveyResult), owners: [...owners].sort() } : result
  })
}
