import { describe } from 'vitest'
import { deadLetterCases } from '../../support/dead-letter-cases.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()

describe('dead letters in Postgres', () => {
  deadLetterCases(() => scene.journalWith({ connectionString: scene.url, schema: scene.newSchema() }))
})
