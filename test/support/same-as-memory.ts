import fc from 'fast-check'
import { expect } from 'vitest'
import { memoryJournal } from '../../src/client/journal/memory/memory-journal.ts'
import {
  type Journal,
  type JournalCommand,
  type JournalResult,
  type JournalRow,
  RECORD_VERSION,
  type SurveyResult,
} from '../../src/client/journal/port.ts'
import {
  change,
  claimByKey,
  claimCommand,
  fence,
  list,
  row,
  SPACE,
  surveyCommand,
} from '../../src/testing/contracts/journal/sample-row.ts'

// Few of each, so that commands meet the rows of others.
const key = fc.constantFrom('a', 'b', 'c', 'd')
const namespace = fc.constantFrom(SPACE, SPACE, SPACE, 'two')
const owner = fc.constantFrom('me', 'you')
const time = fc.nat(4)
const limit = fc.constantFrom(-1, 0, 1, 2, 100, Number.POSITIVE_INFINITY)
const bytes = fc.option(fc.uint8Array({ maxLength: 3 }))
const origin = fc.constantFrom('https://a.example', 'https://b.example')
const name = fc.option(fc.constantFrom('x', 'y'))
const status = fc.constantFrom<JournalRow['status']>('pending', 'succeeded', 'failed')
const deliverNames = fc.oneof(fc.constant('*' as const), fc.subarray(['x', 'y']))
const exceptNames = fc.subarray(['x', ''])
const exceptOrigins = fc.subarray(['https://a.example', 'https://b.example'])
const origins = fc.oneof(fc.constant('*' as const), exceptOrigins)

const filters = { deliverNames, exceptNames, origins, exceptOrigins }

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
/** Rows with a lane have a version of their own. */
const laned = fc.oneof(
  fc.record({ version: fc.constantFrom(1, 1, RECORD_VERSION + 1) }),
  fc.record({ version: fc.constant(2), lane: fc.constantFrom('l', 'm'), laneUntil: fc.option(time) }),
)
const plainRows = fc.record({
  ...changing,
  namespace,
  name,
  origin,
  body: bytes,
  id: fc.option(key),
  epoch: fc.nat(1),
})
const rows = fc.tuple(plainRows, laned).map(([plain, more]) => ({ ...plain, ...more }))
const fences = fc.record({ namespace, owner, epoch: fc.nat(2) })
const claimants = { namespace, owner, now: time, leaseUntil: time, deadOwners: fc.subarray(['me', 'you']) }
const claims = fc.record({ ...claimants, limit, dueBy: time, after: time, ...filters })

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
  fc.record({ do: fc.constant('survey' as const), namespace, now: time, ...filters }),
  fc.record({ do: fc.constant('drop' as const), namespace }),
  fc.record({
    do: fc.constant('drop' as const),
    expiredBy: time,
    limit: fc.constantFrom(0, 100, Number.POSITIVE_INFINITY),
  }),
)

/**
 * Asks a new journal and one in memory the same, whatever it is. With `'gaps'` between its places the journal has other
 * cursors than the one in memory: then every list and claim begins at the start.
 */
export async function expectSameAsMemory(open: () => Promise<Journal>, places: 'dense' | 'gaps'): Promise<void> {
  const asked = (batch: readonly JournalCommand[]): JournalCommand[] =>
    [...batch, surveyCommand({ deliverNames: '*' })].map((one) =>
      places === 'gaps' && 'after' in one ? { ...one, after: 0 } : one,
    )
  const comparable = (results: readonly JournalResult[]): unknown => {
    return JSON.parse(JSON.stringify(results.map(withSortedOwners)), (name, value) =>
      places === 'gaps' && name === 'place' ? 0 : value,
    )
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(command, { maxLength: 6 }), { maxLength: 12 }), async (batches) => {
      const [journal, model] = [await open(), memoryJournal()]
      for (const batch of batches.map(asked)) {
        expect(comparable(await journal.execute(batch))).toEqual(comparable(await model.execute(batch)))
      }
      await journal.close()
    }),
    { numRuns: 200 },
  )
}

/** Owners come in no order. */
function withSortedOwners(result: JournalResult): unknown {
  const { owners } = (result ?? {}) as Partial<SurveyResult>
  return owners ? { ...(result as SurveyResult), owners: [...owners].sort() } : result
}
