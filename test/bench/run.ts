/** The benchmark: see --help, and docs/performance.md for what comes of it. */
import { ArgumentError, type BenchOptions, HELP, readArguments } from './arguments.ts'
import { noisySections } from './report/noise.ts'
import { RESULTS, writePage } from './report/page.ts'
import { tablesOf } from './report/tables.ts'
import { type Results, readResults, sectionOf, writeResults } from './results.ts'
import { runSection } from './run-section.ts'

async function run({ only, quick, terms, json, write }: BenchOptions): Promise<void> {
  let results: Results = {}
  for (const name of only) {
    const section = sectionOf(await runSection(name, terms), { quick, terms })
    results = { ...results, [name]: section }
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
    process.stdout.write(`## ${name}\n\n${tablesOf(name, section)}\n\n`)
  }
  for (const sentence of noisySections(results)) process.stdout.write(`${sentence}\n`)
  if (json) writeResults(json, results)
  if (!write) return
  // What was not measured now stays as it was measured before.
  writeResults(RESULTS, { ...readResults(RESULTS), ...results })
  await writePage(readResults(RESULTS))
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
