import type { Journal, JournalCommand, JournalResult } from '../../client/journal/port.ts'
import { endRunner } from '../../foundation/runners-here.ts'
import { type Fuse, never } from './fuse.ts'
import { JournalMoments, ownersOf } from './journal-moments.ts'

/** The journal as the client has it: after the crash nothing that it asks for is done, and nothing answers. */
export function cutOffJournal(journal: Journal, fuse: Fuse): Journal {
  const moments = new JournalMoments()
  const owners = new Set<string>()
  // Other clients on this machine see that the process is gone, and need not wait for its leases to lapse.
  fuse.atTheEnd(() => {
    for (const owner of owners) endRunner(owner)
  })

  /** A batch is one transaction: a crash before it loses all of it, a crash after it loses nothing. */
  const execute = async (commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]> => {
    for (const owner of ownersOf(commands)) owners.add(owner)
    if (fuse.pass(...moments.asked(commands))) return never()
    const results = await answered(journal.execute(commands, now), fuse)
    return fuse.pass(...moments.durable(commands, results)) ? never() : results
  }

  const { persistIn } = journal
  return {
    get level() {
      return journal.level
    },
    open: () => (fuse.reached ? never() : answered(journal.open(), fuse)),
    execute,
    close: () => journal.close(),
    ...(persistIn && {
      persistIn: (transaction, row) => (fuse.reached ? never() : persistIn.call(journal, transaction, row)),
    }),
  }
}

/** What the store says, unless the client is gone by then. */
async function answered<T>(work: Promise<T>, fuse: Fuse): Promise<T> {
  try {
    const result = await work
    return fuse.reached ? never() : result
  } catch (error) {
    if (fuse.reached) return never()
    throw error
  }
}
