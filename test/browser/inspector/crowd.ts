import type { JournalRow } from '../../../src/client/journal/port.ts'
import { memoryJournal } from '../../../src/index.ts'
import { startInspector } from '../../../src/inspector/index.ts'
import { closeAtEnd } from '../support/closing.ts'
import { doors } from './inspected-page.ts'
import { rowOf, sampleRecord } from './sample-records.ts'
import { clientOf } from './sample-shop.ts'

/**
 * The inspector of a client with so many pending operations, `key-0` the oldest. One in ten thousand has failed; the name
 * of the newest tries to be markup.
 */
export async function crowdedInspector(
  size: number,
): Promise<{ readonly url: string; readonly rowsRead: () => number }> {
  const journal = memoryJournal()
  await journal.execute([...crowd(size)].map((row) => ({ do: 'append', row }) as const))
  let read = 0
  const counted = {
    ...journal,
    execute: async (...given: Parameters<typeof journal.execute>) => {
      const results = await journal.execute(...given)
      for (const rows of results) if (Array.isArray(rows)) read += rows.length
      return results
    },
  }
  const inspector = await startInspector({ client: clientOf(doors, counted) })
  closeAtEnd(inspector.close)
  return { url: inspector.url, rowsRead: () => read }
}

/** Rows from two templates: to encode each record would take longer than all the rest. */
function* crowd(size: number): Iterable<JournalRow> {
  const now = Date.now()
  const pending = rowOf(sampleRecord({ key: '', ageMs: 60_000, name: 'charge' }, now))
  const failed = rowOf(sampleRecord({ key: '', ageMs: 60_000, more: { status: 'failed', settledAt: now } }, now))
  for (let number = 0; number < size; number++) {
    const template = number % 10_000 === 0 ? failed : pending
    const name = number === size - 1 ? '<img src=x onerror=alert(1)>' : template.name
    yield { ...template, key: `key-${number}`, name }
  }
}
