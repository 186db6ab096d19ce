import { describe, expect, it } from 'vitest'
import { writeAhead } from '../../../../src/client/engine/call/write-ahead.ts'
import { Upkeep } from '../../../../src/client/engine/recover/upkeep.ts'
import { LiveOperation } from '../../../../src/client/engine/run/live-operation.ts'
import { memoryJournal } from '../../../../src/client/journal/memory/memory-journal.ts'
import type { AppendResult, JournalResult } from '../../../../src/client/journal/port.ts'
import { RecordKeeper } from '../../../../src/client/journal/record-keeper.ts'
import { Fingerprints } from '../../../../src/client/operation/fingerprints.ts'
import type { OperationRecord } from '../../../../src/client/operation/record.ts'
import { KeyReuseError, StorageError } from '../../../../src/errors/classes.ts'
import { nodeDigest } from '../../../../src/foundation/node-digest.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { faultJournal, on } from '../../../support/fault-journal.ts'
import { freshRecord, NOW } from '../../../support/shared-record.ts'

/** What writing ahead needs of an engine, on a journal that has this record already. */
async function onRecord(earlier?: OperationRecord) {
  const journal = faultJournal(memoryJournal())
  const keeper = new RecordKeeper(journal, { onUnreadable: () => {} })
  if (earlier) await keeper.append(earlier)
  const fingerprints = new Fingerprints(nodeDigest)
  const engine = { keeper, fingerprints, clock: manualClock(NOW), upkeep: new Upkeep(undefined, undefined) }
  const stored = (): Promise<OperationRecord | undefined> => keeper.read('default', freshRecord().key)
  return { journal, stored, engine }
}

function isFound(result: JournalResult): result is AppendResult & { readonly appended: false } {
  return typeof result === 'object' && result !== null && 'existing' in result
}

describe('writing ahead, where a record with the same key, owner and epoch is there', () => {
  it('goes on where it is the very record that was to be written', async () => {
    const { engine } = await onRecord(freshRecord())
    expect(await writeAhead(engine, new LiveOperation(freshRecord()), { named: false })).toBeUndefined()
  })

  it('refuses to send other bytes under its key', async () => {
    const { engine } = await onRecord(freshRecord({ fingerprint: 'e'.repeat(64) }))
    await expect(writeAhead(engine, new LiveOperation(freshRecord()), { named: false })).rejects.toBeInstanceOf(
      KeyReuseError,
    )
  })

  it('says unknown where the record that is there can not be read: it may be its own, and a resume may read it', async () => {
    const { engine, journal } = await onRecord(freshRecord())
    const memory = journal.execute
    journal.execute = async (batch, now) => {
      const results = await memory(batch, now)
      for (const result of results) if (isFound(result)) Object.assign(result.existing, { head: '{' })
      return results
    }
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    const operation = { key: freshRecord().key }
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'unknown', pending: true, operation })
  })

  const earlier: Record<string, Partial<OperationRecord>> = {
    'was accepted at another time': { acceptedAt: NOW - 1 },
    'has been attempted': { attemptCount: 1 },
    'is settled': { status: 'cancelled', settledAt: NOW, expiresAt: NOW + 1000 },
  }
  for (const [what, more] of Object.entries(earlier)) {
    it(`joins the one that ${what}`, async () => {
      const { engine } = await onRecord(freshRecord(more))
      expect(await writeAhead(engine, new LiveOperation(freshRecord()), { named: false })).toMatchObject(more)
    })
  }
})

describe('writing ahead, where the write fails', () => {
  it('takes back its own record', async () => {
    const { engine, journal, stored } = await onRecord()
    journal.fault = on('append', 'fail-late')
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'none', pending: false })
    expect(await stored()).toBeUndefined()
  })

  it('says unknown while a transaction in doubt may still commit: a look does not see it, and holds its key', async () => {
    const { engine, journal, stored } = await onRecord()
    const memory = journal.execute
    let isHeld = true
    // As a database does it whose commit hangs: the row is not seen, and no other can be written in its place.
    journal.execute = async (batch, now) => {
      if (!isHeld || !batch.some((command) => command.do === 'append')) return memory(batch, now)
      throw new StorageError('No answer', { effect: 'unknown' })
    }
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'unknown', pending: true })
    isHeld = false
    await engine.keeper.append(freshRecord())
    expect(await stored()).toMatchObject({ status: 'pending' })
  })

  it('leaves alone what an earlier call with the same key, owner and epoch left', async () => {
    const { engine, journal, stored } = await onRecord(freshRecord({ acceptedAt: NOW - 1, attemptCount: 1 }))
    journal.fault = on('append', 'fail')
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    // The same request is under way under this key: beginning anew is not safe.
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'unknown', pending: true })
    expect(await stored()).toMatchObject({ acceptedAt: NOW - 1 })
  })

  it('speaks of its own call only, where the record under its key is of another request', async () => {
    const other = freshRecord({ fingerprint: 'e'.repeat(64), effect: 'unknown', attemptCount: 1 })
    const { engine, journal, stored } = await onRecord(other)
    journal.fault = on('append', 'fail')
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'none', pending: false })
    expect(await stored()).toMatchObject({ fingerprint: other.fingerprint })
  })

  it('tells of a record that another runner has taken over what is known there', async () => {
    const lease = { owner: 'you', epoch: 2, until: NOW + 30_000 }
    const { engine, journal, stored } = await onRecord(freshRecord({ lease, epoch: 2 }))
    journal.fault = on('append', 'fail')
    const written = writeAhead(engine, new LiveOperation(freshRecord()), { named: false })
    await expect(written).rejects.toMatchObject({ name: 'StorageError', effect: 'unknown', pending: true })
    expect(await stored()).toMatchObject({ lease })
  })
})
