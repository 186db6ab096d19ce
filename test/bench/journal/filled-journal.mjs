import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tell } from '../support/section.mjs'

const PROGRAM = fileURLToPath(new URL('./fill-journal.mjs', import.meta.url))

/**
 * Makes `file`, a journal with `count` operations of that `status`. By another process, because how a record is written
 * is not public: tsx has to compile the sources for it, and what tsx compiles is not what is measured.
 */
export async function makeFilledJournal({ file, count, status, origin }) {
  tell(`filling a journal with ${count} ${status} operations`)
  const input = JSON.stringify({ file, count, status, origin })
  await promisify(execFile)(process.execPath, ['--import', 'tsx', PROGRAM, input])
}
