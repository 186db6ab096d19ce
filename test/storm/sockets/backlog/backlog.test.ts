import { expect, it } from 'vitest'
import { runBacklog } from './run-backlog.ts'
import { socketBacklogReport } from './socket-backlog-report.ts'

/* A short backlog with real processes. How fast it is, is the machine's: only counts are compared. */

const OPERATIONS = 300
/** Ten at a time would be the slots of a resume; what a gate lets through grows with what is answered. */
const MORE_THAN_SLOTS = 10

it('resumes what each journal holds, at a request each, and more than a few at a time', async () => {
  const rows = await runBacklog(OPERATIONS, () => {})
  expect(rows.map(({ journal }) => journal)).toEqual(['memory', 'SQLite'])
  for (const row of rows) {
    expect(row).toMatchObject({ succeeded: OPERATIONS, requests: OPERATIONS })
    expect(row.mostAtOnce).toBeGreaterThan(MORE_THAN_SLOTS)
  }
  expect(socketBacklogReport(rows)).toMatch(/\| SQLite !? *\| +300 \| +300 \|/)
})
