import type pg from 'pg'
import { afterAll, afterEach } from 'vitest'
import type { Journal, JournalCommand, ResultOf } from '../../src/client/journal/port.ts'
import { type PostgresJournalOptions, postgresJournal } from '../../src/postgres/index.ts'
import { type PostgresScene, postgresScene } from './postgres.ts'

export interface JournalScene extends PostgresScene {
  /** A journal on a pool of its own, as a replica would have it; closed after the test. */
  journal(options?: pg.PoolConfig): Journal
  /** The same, with other options. */
  journalWith(options: PostgresJournalOptions): Journal
  /** The name of a schema that is not there yet, and is gone after the file. */
  newSchema(): string
}

/** A schema with a journal. To be called at the top of a file. */
export function journalScene(): JournalScene {
  const journals: Journal[] = []
  const schemas: string[] = []
  const scene = postgresScene()
  afterAll(async () => {
    for (const name of schemas) await scene.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  })
  afterEach(async () => {
    for (const journal of journals.splice(0)) await journal.close()
  })
  const journalWith = (options: PostgresJournalOptions): Journal => {
    const journal = postgresJournal(options)
    journals.push(journal)
    return journal
  }
  return {
    ...scene,
    journalWith,
    journal: (options) => journalWith({ pool: scene.pool(options), schema: scene.schema }),
    newSchema: () => {
      const name = `${scene.schema}_${schemas.length + 1}`
      schemas.push(name)
      return name
    },
  }
}

/** Runs one command, with the caller's clock where that is given. */
export async function ask<C extends JournalCommand>(journal: Journal, command: C, now?: number): Promise<ResultOf<C>> {
  await journal.open()
  const [result] = await journal.execute([command], now)
  return result as ResultOf<C>
}
