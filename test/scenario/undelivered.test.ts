import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { neighbourhood } from '../support/shared-clients.ts'
import { undeliveredCases } from '../support/undelivered-cases.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-undelivered-'))
const journals: Journal[] = []
afterAll(async () => {
  for (const journal of journals) await journal.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a settlement that no handler has taken, in memory', () => undeliveredCases(memoryJournal))

describe('a settlement that no handler has taken, in SQLite', () => {
  undeliveredCases(() => {
    const journal = sqliteJournal({ path: join(folder, `${journals.length}.db`) })
    journals.push(journal)
    return journal
  })
})

describe('a settlement whose handler throws for longer than its retention', () => {
  it.each(['charge', '*'])('is delivered once the handler of %s is mended', async (name) => {
    const place = neighbourhood()
    const client = place.client()
    let isDown = true
    const told: string[] = []
    client.onSettled(name, ({ operation }) => {
      if (isDown) throw new Error('The handler is down')
      told.push(operation.key)
    })
    const call = client.post('/charges', { body: 'one', ...(name === '*' ? {} : { name }) })
    await call
    for (let hour = 0; hour < 30; hour++) {
      await place.clock.advance(3_600_000)
      await client.resume()
    }
    isDown = false
    await client.resume()
    expect(told).toEqual([call.key])
  })
})
