/** Resumes a full journal, and says how much of its own heap that took at the most. Needs --expose-gc. */
import { createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { fillJournal } from './child-rows.ts'
import { inputOf, say } from './child-voice.ts'

const input = inputOf<{ origin: string; db: string; pending: number; settled: number }>()
const journal = sqliteJournal({ path: input.db, durability: 'process' })
await journal.open()
await fillJournal(journal, { origin: input.origin, count: input.settled, status: 'succeeded' })
await fillJournal(journal, { origin: input.origin, count: input.pending, status: 'pending' })

/** What is really held, in MB; buffers count, garbage does not. */
function heldMegabytes(): number {
  global.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

const before = heldMegabytes()
let peak = before
let settled = 0
const every = Math.max(1, Math.floor(input.pending / 40))
const client = createClient({
  baseUrl: input.origin,
  journal,
  observe: (event) => {
    if (event.type !== 'operation.settled' || ++settled % every !== 0) return
    peak = Math.max(peak, heldMegabytes())
  },
})
const startedAt = performance.now()
const report = await client.resume()
const seconds = (performance.now() - startedAt) / 1000
await client.close()
await journal.close()
say('measured', { before, peak, seconds, rss: process.memoryUsage().rss / 2 ** 20, report })
process.exit()
