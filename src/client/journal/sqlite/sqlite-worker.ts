import { parentPort, workerData } from 'node:worker_threads'
import { loadSqliteDriver, type SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { openSqliteFile } from '../../../sql/sqlite-open.ts'
import { runBatch } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'
import { plainFailure, type WorkerAnswer, type WorkerRequest, type WorkerSettings } from './worker-messages.ts'

/** The other thread: owns the connection, and may wait for the disk and for locks. Bundled into a string. */
const settings = workerData as WorkerSettings
let database: SqliteDatabase | undefined

parentPort?.on('message', (request: WorkerRequest) => {
  parentPort?.postMessage(answer(request))
  if (request.ask === 'close') parentPort?.close()
})

function answer(request: WorkerRequest): WorkerAnswer {
  try {
    return obey(request)
  } catch (error) {
    return { failure: plainFailure(storageFailure(error, `The journal ${settings.path}`)) }
  }
}

function obey(request: WorkerRequest): WorkerAnswer {
  if (request.ask === 'close') {
    database?.close()
    return { closed: true }
  }
  database ??= openSqliteFile(loadSqliteDriver(settings.driver), { ...settings, schema: journalSchema })
  if (request.ask === 'execute') return { results: runBatch(database, request.commands) }
  const synchronous = Number(database.pragma('synchronous', { simple: true }))
  return { opened: { synchronous, journalMode: String(database.pragma('journal_mode', { simple: true })) } }
}
