// How long a resume of many pending operations takes, and how much heap. Needs --expose-gc.
import { createClient } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import { rounded } from '../support/measure.mjs'
import { runSection, tell } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { makeFilledJournal } from './filled-journal.mjs'

/** How often the heap is looked at in one resume. */
const SAMPLES = 40

/** Resumed first, so that neither compiled code nor connections count as heap of the others. */
const WARM_UP = 200

await runSection(async ({ directory, pending }) => {
  const server = await startServer()
  const facts = []
  try {
    const resumeMany = async (count, concurrency) => {
      const path = `${directory}/pending-${count}-${concurrency}.db`
      await makeFilledJournal({ file: path, count, status: 'pending', origin: server.base })
      return resume({ path, pending: count, concurrency }, server.base)
    }
    await resumeMany(WARM_UP, 1)
    for (const concurrency of [8, 64]) {
      facts.push({ name: `${concurrency} at once`, values: await resumeMany(pending, concurrency) })
    }
  } finally {
    server.stop()
  }
  return { facts }
})

async function resume({ path, pending, concurrency }, baseUrl) {
  const before = heldMegabytes()
  let [peak, settled, sampledMs] = [before, 0, 0]
  const every = Math.max(1, Math.floor(pending / SAMPLES))
  const observe = ({ type }) => {
    if (type !== 'operation.settled' || ++settled % every !== 0) return
    const start = performance.now()
    peak = Math.max(peak, heldMegabytes())
    tell(`resuming, ${concurrency} at once: ${settled} of ${pending}`)
    sampledMs += performance.now() - start
  }
  const client = createClient({ baseUrl, journal: sqliteJournal({ path }), observe })
  const start = performance.now()
  const { succeeded } = await client.resume({ concurrency })
  const seconds = (performance.now() - start - sampledMs) / 1000
  await client.close()
  if (succeeded !== pending) throw new Error(`${succeeded} of ${pending} operations succeeded`)
  return {
    pending,
    seconds: rounded(seconds),
    perSecond: rounded(pending / seconds),
    heapBeforeMb: rounded(before),
    heapPeakMb: rounded(peak),
  }
}

/** What is really held; buffers count, garbage does not. */
function heldMegabytes() {
  global.gc()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
