/** Retry storms, simulated: see --help, and docs/concepts/retry-storms.md for what comes of it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ArgumentError, HELP, readArguments, type StormOptions } from './arguments.ts'
import { drawPicture } from './pictures/draw.ts'
import { picturesOf } from './pictures/pictures-of.ts'
import { type Results, reportOf } from './report.ts'
import { runExperiments } from './run-experiments.ts'

function tell(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
}

async function drawInto(folder: string, results: Results): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const picture of picturesOf(results)) {
    tell(`drawing ${picture.file}`)
    writeFileSync(join(folder, picture.file), await drawPicture(picture))
  }
}

async function run(options: StormOptions): Promise<void> {
  const results = runExperiments(options, tell)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  if (options.pictures) await drawInto(options.pictures, results)
  if (process.stderr.isTTY) tell('')
  process.stdout.write(`seed ${results.seed}\n\n${reportOf(results)}\n`)
}

try {
  const options = readArguments(process.argv.slice(2))
  if (options === 'help') process.stdout.write(HELP)
  else await run(options)
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
