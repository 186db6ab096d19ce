import { EventEmitter } from 'node:events'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { JobBook, poster } from './job.mjs'

const SCHEMA = 'graphile_worker'
const silent = new Logger(() => () => {})

/** With its local queue, and completions in batches. */
export async function graphileWorker({ base, url, connections, concurrency }) {
  const { post, close } = poster(base)
  const book = new JobBook()
  const events = new EventEmitter().on('job:complete', () => book.recorded())
  const shared = { connectionString: url, schema: SCHEMA, logger: silent }
  const utils = await makeWorkerUtils(shared)
  await utils.migrate()
  const taskList = {
    post: async ({ number, operation }) => book.answered(number, await post(operation)),
  }
  const worker = {
    concurrentJobs: concurrency,
    localQueue: { size: 4 * concurrency },
    completeJobBatchDelay: 0,
    maxPoolSize: connections,
    pollInterval: 1000,
  }
  const start = () => run({ ...shared, noHandleSignals: true, events, taskList, preset: { worker } })
  let runner = await start()
  return {
    post: async (operation) => {
      const { number, answered } = book.open()
      await runner.addJob('post', { number, operation })
      return answered
    },
    recorded: () => book.allRecorded(),
    fill: async (operations) => {
      await runner.stop()
      book.expect(operations.length)
      await utils.addJobs(operations.map((operation) => ({ identifier: 'post', payload: { number: 0, operation } })))
    },
    drain: async () => {
      runner = await start()
      await book.allRecorded()
    },
    close: async () => {
      await runner.stop()
      await utils.release()
      await close()
    },
  }
}
