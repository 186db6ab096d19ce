import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Journal } from '../../src/index.ts'
import { memoryJournal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { deadLetterCases } from '../support/dead-letter-cases.ts'
import { neighbourhood, outcome } from '../support/shared-clients.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-dead-letters-'))
const journals: Journal[] = []
afterAll(async () => {
  for (const journal of journals) await journal.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('dead letters in memory', () => deadLetterCases(memoryJournal))

describe('dead letters in SQLite', () => {
  deadLetterCases(() => {
    const journal = sqliteJournal({ path: join(folder, `${journals.length}.db`) })
    journals.push(journal)
    return journal
  })
})

describe('the list of dead letters', () => {
  it('goes over any number of pages, in the order of acceptance', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false, budget: false, breaker: false })
    const answers = ['fine', { status: 400 }] as const
    place.server.weather = ({ text }) => answers[Number(text) % 5] ?? { status: 503 }
    const ids = Array.from({ length: 400 }, (_, number) => String(number))
    for (const id of ids) await outcome(client.post('/charges', { body: id, id }))
    const found: string[] = []
    for await (const { id } of client.deadLetters()) found.push(id ?? '')
    expect(found).toEqual(ids.filter((id) => Number(id) % 5 > 0))
  })

  it('never reads what has succeeded', async () => {
    const place = neighbourhood()
    const client = place.client()
    await client.post('/charges', { body: 'one', id: 'one' })
    const asked: unknown[] = []
    const execute = client.journal.execute.bind(client.journal)
    Object.assign(client.journal, {
      execute: (commands: readonly object[], now?: number) => {
        asked.push(...commands.flatMap((one) => ('status' in one ? [one.status] : [])))
        return execute(commands as never, now)
      },
    })
    for await (const _ of client.deadLetters()) expect.unreachable()
    expect(asked.sort()).toEqual(['expired', 'failed', 'pending', 'rejected'])
  })

  it('keeps without an id what no caller has heard of, and what its caller was told for a minute', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false, onGiveUp: 'keep', breaker: false })
    place.server.weather = () => ({ status: 503 })
    await outcome(client.post('/charges', { body: 'resumed' }))
    place.server.weather = () => ({ status: 404 })
    expect(await client.resume()).toMatchObject({ rejected: 1 })
    await outcome(client.post('/charges', { body: 'told' }))
    const keptFor: number[] = []
    for await (const { keptUntil = 0 } of client.deadLetters()) keptFor.push(keptUntil - place.clock.now())
    expect(keptFor).toEqual([86_400_000, 60_000])
  })

  it.each([[{ limit: -1 }], [{ after: '' }], [{ status: 'failed' }]])('refuses %j', async (wrong) => {
    const client = neighbourhood().client()
    expect(() => client.deadLetters(wrong as { limit: number })).toThrow('deadLetters')
  })
})
