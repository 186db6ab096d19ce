import PgBoss from 'pg-boss'
import { JobBook, poster } from './job.mjs'

const QUEUE = 'post'
/** Loops that fetch: while one waits for the answers of its batch, others fetch the next. */
const LOOPS = 4

/** Fetched in batches as soon as there is a job, without the half second that its own workers pause at least. */
export async function pgBoss({ base, url, connections, concurrency }) {
  const { post, close } = poster(base)
  const book = new JobBook()
  const boss = new PgBoss({ connectionString: url, schema: 'pgboss', max: connections, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(QUEUE)
  const batchSize = Math.ceil(concurrency / LOOPS)
  let [idle, isPaused, isClosed, skipped] = [[], false, false, false]
  const wake = () => {
    skipped = idle.length === 0
    idle.shift()?.()
  }
  const batch = async (jobs) => {
    await Promise.all(jobs.map(async ({ data }) => book.answered(data.number, await post(data.operation))))
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    )
    book.recorded(jobs.length)
  }
  const loop = async () => {
    while (!isClosed) {
      const jobs = isPaused ? [] : await boss.fetch(QUEUE, { batchSize })
      if (jobs.length > 0) await batch(jobs)
      else if (skipped) skipped = false
      else await new Promise((resolve) => idle.push(resolve))
    }
  }
  const loops = Array.from({ length: LOOPS }, loop)
  const wakeAll = () => {
    for (const resolve of idle.splice(0)) resolve()
  }
  return {
    post: async (operation) => {
      const { number, answered } = book.open()
      await boss.send(QUEUE, { number, operation })
      wake()
      return answered
    },
    recorded: () => book.allRecorded(),
    fill: async (operations) => {
      isPaused = true
      book.expect(operations.length)
      await boss.insert(operations.map((operation) => ({ name: QUEUE, data: { number: 0, operation } })))
    },
    drain: async () => {
      isPaused = false
      wakeAll()
      await book.allRecorded()
    },
    close: async () => {
      isClosed = true
      wakeAll()
      await Promise.all(loops)
      await boss.stop({ graceful: false, wait: true })
      await close()
    },
  }
}
