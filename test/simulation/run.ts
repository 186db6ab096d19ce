import { availableParallelism } from 'node:os'
import { runHistory } from '../../src/testing/simulation/history.ts'
import { progressLine, reportText } from '../../src/testing/simulation/report-text.ts'
import { StateFile } from '../support/state-file.ts'
import { commandLine, readArguments, type SimulationArguments, traceLine, USAGE } from './arguments.ts'
import { type RunProgress, Workforce } from './workforce.ts'

/** In a run of this size a fault or crash point that never occurred is a failure of the simulation. */
const ENOUGH_TO_MEET_EVERYTHING = 10_000

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2), { seed: Date.now() % 1e9, workers: availableParallelism() })
  if (args === 'help') return say(USAGE)
  if (args.trace) return trace(args)
  const given = args.seedGiven ? args.seed : undefined
  const terms = { seed: given, drawnSeed: args.seed, terms: { without: args.without } }
  const state = new StateFile<RunProgress>(args.state, terms)
  say(`First seed: ${state.seed}`)
  if (state.progress) say(`Done before: ${state.progress.sums.histories} histories`)
  const report = await new Workforce(args, state, (progress) => {
    process.stderr.write(process.stderr.isTTY ? `\r${progressLine(progress)}` : `${progressLine(progress)}\n`)
  }).run()
  say(`\n${reportText(report)}`)
  for (const { seed, without } of report.failed) say(`Line by line: ${traceLine(seed, without)}`)
  say(`${args.state === undefined ? 'Again' : 'To go on'}: ${commandLine(args, state.seed)}`)
  const dull = report.histories >= ENOUGH_TO_MEET_EVERYTHING && report.missing.length > 0
  return report.failed.length > 0 || dull ? 1 : 0
}

async function trace({ seed, without }: SimulationArguments): Promise<number> {
  const history = await runHistory(seed, { without: new Set(without), traced: true })
  say(`Faults: ${history.faults.join(', ')}`)
  say(history.lines.join('\n'))
  return history.broken.length === 0 ? 0 : 1
}

function say(text: string): 0 {
  process.stdout.write(`${text}\n`)
  return 0
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`)
    process.exitCode = 2
  },
)
