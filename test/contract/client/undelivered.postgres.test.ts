import { describe } from 'vitest'
import { journalScene } from '../../support/postgres-journal.ts'
import { undeliveredCases } from '../../support/undelivered-cases.ts'

const scene = journalScene()

describe('a settlement that no handler has taken, in Postgres', () => {
  undeliveredCases(() => scene.journalWith({ connectionString: scene.url, schema: scene.newSchema() }))
})
