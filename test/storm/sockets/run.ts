/** Real clients over sockets: see --help, and docs/internals/storm-model.md for the results. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ArgumentError } from '../arguments.ts'
import { drawPicture } from '../pictures/draw.ts'
import { runBacklog } from './backlog/run-backlog.ts'
import { socketBacklogReport } from './backlog/socket-backlog-report.ts'
import { blipsPicture } from './blips/blips-picture.ts'
import { runBlips } from './blips/run-blips.ts'
import { socketBlipsReport } from './blips/socket-blips-report.ts'
import { compare } from './compare.ts'
import { comparisonReport } from './comparison-report.ts'
import { HELP, readSocketArguments, type SocketOptions } from './socket-arguments.ts'
import { TRIALS } from './trials.ts'

const tell = (line: string): boolean => process.stderr.write(`${line}\n`)

async function runModel({ trials, runs }: SocketOptions): Promise<void> {
  for (const name of trials) {
    const comparison = await compare(TRIALS[name], runs, tell)
    process.stdout.write(`${comparisonReport(comparison)}\n\n`)
  }
}

async function reportBlips({ blips, json, pictures }: SocketOptions): Promise<void> {
  const rows = await runBlips(blips, tell)
  if (json) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`)
  const picture = blipsPicture(rows)
  if (pictures && picture) {
    mkdirSync(pictures, { recursive: true })
    writeFileSync(join(pictures, picture.file), await drawPicture(picture))
  }
  process.stdout.write(`${socketBlipsReport(rows)}\n`)
}

async function run(options: SocketOptions): Promise<void> {
  if (options.only.includes('model')) await runModel(options)
  if (options.only.includes('blips')) await reportBlips(options)
  if (options.only.includes('backlog')) {
    process.stdout.write(`${socketBacklogReport(await runBacklog(options.operations, tell))}\n`)
  }
}

try {
  const options = readSocketArguments(process.argv.slice(2))
  if (options === 'help') process.stdout.write(HELP)
  else await run(options)
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
