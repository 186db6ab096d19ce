import type { Journal, JournalCommand } from '../../src/index.ts'

export interface Hold {
  /** The batch to stop at. */
  readonly at: (command: JournalCommand) => boolean
  /** Stops before the batch is written, or once it is durable and before anybody is told. */
  readonly when: 'before' | 'after'
  readonly stop: () => Promise<void>
}

/** A journal in which time stands still at one write. */
export function heldJournal(journal: Journal, hold: Hold): Journal {
  return {
    level: journal.level,
    open: () => journal.open(),
    close: () => journal.close(),
    async execute(commands) {
      const isPoint = commands.some(hold.at)
      if (isPoint && hold.when === 'before') await hold.stop()
      const results = await journal.execute(commands)
      if (isPoint) await hold.stop()
      return results
    },
  }
}
