import { DBOS } from '@dbos-inc/dbos-sdk'
import { JobBook, poster } from './job.mjs'

const silent = Object.fromEntries(['info', 'debug', 'warn', 'error'].map((level) => [level, () => {}]))

/** A workflow of one step, started by its caller; a backlog is a queue of such workflows. */
export async function dbos({ base, url, connections, concurrency }) {
  const { post, close } = poster(base)
  const book = new JobBook()
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: connections,
    runAdminServer: false,
    logger: silent,
  })
  const workflow = DBOS.registerWorkflow(
    async ({ number, operation }) => {
      const answer = await DBOS.runStep(() => post(operation), { name: 'post' })
      book.answered(number, answer)
    },
    { name: 'post' },
  )
  await DBOS.launch()
  let backlogs = 0
  let handles = []
  return {
    post: async (operation) => {
      const { number, answered } = book.open()
      const handle = await DBOS.startWorkflow(workflow)({ number, operation })
      void handle.getResult().then(() => book.recorded())
      return answered
    },
    recorded: () => book.allRecorded(),
    // A queue that is not registered yet is not worked on.
    fill: async (operations) => {
      const queueName = `backlog-${++backlogs}`
      const enqueue = (operation) => DBOS.startWorkflow(workflow, { queueName })({ number: 0, operation })
      handles = await Promise.all(operations.map(enqueue))
    },
    drain: async () => {
      const name = `backlog-${backlogs}`
      await DBOS.registerQueue(name, { workerConcurrency: concurrency, minPollingIntervalMs: 10 })
      await Promise.all(handles.splice(0).map((handle) => handle.getResult()))
      await DBOS.deleteQueue(name)
    },
    close: async () => {
      await DBOS.shutdown()
      await close()
    },
  }
}
