import { describe, expect, it } from 'vitest'
import { GroupCommit } from '../../../../src/client/journal/group-commit.ts'
import type { DropExpired, Journal, JournalCommand } from '../../../../src/client/journal/port.ts'
import { StorageError } from '../../../../src/errors/classes.ts'
import { append } from '../../../../src/testing/contracts/journal/sample-row.ts'

const prune = (expiredBy: number): JournalCommand => ({ do: 'drop', expiredBy, limit: 1 })

function run(writes: GroupCommit, now: number): Promise<number> {
  return new Promise((resolve, reject) => writes.push({ command: prune(now), resolve, reject }))
}

/** Answers each command with its `expiredBy`, unless `fails` says that the batch can't be written. */
function journalThat(fails: (batch: readonly JournalCommand[]) => boolean) {
  const batches: number[] = []
  const journal: Journal = {
    level: 'memory',
    open: async () => {},
    close: async () => {},
    execute: async (batch) => {
      batches.push(batch.length)
      if (fails(batch)) throw new Error('no')
      return batch.map((command) => (command as DropExpired).expiredBy)
    },
  }
  return { batches, writes: new GroupCommit(journal) }
}

describe('group commit', () => {
  it('writes what one turn asks for in one transaction, and answers each', async () => {
    const { batches, writes } = journalThat(() => false)
    expect(await Promise.all([1, 2, 3].map((now) => run(writes, now)))).toEqual([1, 2, 3])
    expect(batches).toEqual([3])
  })

  it('gives large bodies transactions of their own, so that the first is accepted before the last is written', async () => {
    const { batches, writes } = journalThat(() => false)
    const sizes = [10, 3_000_000, 2_000_000, 10, 10_000_000, 10]
    await Promise.all(
      sizes.map((size) => {
        const command = append(`of ${size}`, { body: new Uint8Array(size) })
        return new Promise((resolve, reject) => writes.push({ command, resolve, reject }))
      }),
    )
    expect(batches).toEqual([2, 2, 1, 1])
  })

  it('lets one command that cannot be written fail alone', async () => {
    const { writes } = journalThat((batch) => batch.some((command) => (command as DropExpired).expiredBy === 2))
    const results = await Promise.allSettled([1, 2, 3].map((now) => run(writes, now)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(StorageError)
  })

  it('does not try every command alone where the journal itself is at fault', async () => {
    const { batches, writes } = journalThat(() => true)
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, now) => run(writes, now)))
    expect(results.every(({ status }) => status === 'rejected')).toBe(true)
    expect(batches).toEqual([50, 1, 1])
    await writes.idle()
  })

  /** A journal whose batches fail in one way and single commands in another. */
  function failsWith(first: StorageError, alone: StorageError): GroupCommit {
    return new GroupCommit({
      level: 'memory',
      open: async () => {},
      close: async () => {},
      execute: async (batch) => {
        throw batch.length > 1 ? first : alone
      },
    })
  }

  it('says unknown of every command of a batch that may have been written, though each was refused alone', async () => {
    const lost = new StorageError('lost', { effect: 'unknown' })
    const writes = failsWith(lost, new StorageError('full'))
    const results = await Promise.allSettled([1, 2, 3].map((now) => run(writes, now)))
    expect(results.map((result) => (result as PromiseRejectedResult).reason)).toEqual([lost, lost, lost])
    expect(results.map((result) => (result as PromiseRejectedResult).reason.effect)).toEqual(Array(3).fill('unknown'))
  })

  it('says of a batch that was certainly not written what each command met alone', async () => {
    const alone = new StorageError('lost', { effect: 'unknown' })
    const writes = failsWith(new StorageError('full'), alone)
    const results = await Promise.allSettled([1, 2].map((now) => run(writes, now)))
    expect(results.map((result) => (result as PromiseRejectedResult).reason)).toEqual([alone, alone])
  })

  it.each<[string, Journal['execute']]>([
    [
      'throws at once',
      () => {
        throw new Error('no')
      },
    ],
    ['gives fewer results than commands', async (batch) => batch.slice(1).map(() => 0)],
    ['gives no results at all', async () => undefined as never],
  ])('refuses what was asked of a journal that %s, and goes on', async (_, execute) => {
    const journal: Journal = { level: 'memory', open: async () => {}, close: async () => {}, execute }
    const writes = new GroupCommit(journal)
    await expect(run(writes, 1)).rejects.toBeInstanceOf(StorageError)
    journal.execute = async (batch) => batch.map(() => 7)
    expect(await run(writes, 2)).toBe(7)
    await writes.idle()
  })
})
