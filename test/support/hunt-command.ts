import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type RoundReport, reportText } from './round-report.ts'
import { runRounds } from './rounds.ts'
import { StateFile } from './state-file.ts'

type Texts = Readonly<Record<string, string>>

export interface HuntCommand {
  /** As in `npm run hunt`. */
  readonly script: string
  /** The program that runs one round. */
  readonly program: URL
  /** The options of a round with their defaults. */
  readonly options: Texts
  /** What an option may be, where it is one of a few words. */
  readonly choices?: Texts
  /** What is said where nothing is wrong. */
  readonly clean: string
}

const OF_THE_RUN = { rounds: '1', workers: '1' }

/** Reads the command line, runs the rounds, tells what came of them and how to run them again. */
export async function runHuntCommand(command: HuntCommand): Promise<void> {
  // Exits in order: what was begun is cleared away.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  try {
    process.exitCode = await run(command)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage(command)}\n`)
    process.exitCode = 2
  }
}

async function run(command: HuntCommand): Promise<number> {
  const { seed, state: file, ...given } = read(command)
  const { rounds = '', workers = '', ...input } = given
  const numbers = { rounds: wholeNumber('rounds', rounds), workers: wholeNumber('workers', workers) }
  const asked = seed === undefined ? undefined : wholeNumber('seed', seed)
  const state = new StateFile<readonly RoundReport[]>(file, {
    seed: asked,
    drawnSeed: Math.floor(Math.random() * 1e9) + 1,
    terms: input,
  })
  const line = commandLine(command, input)
  const all = `${line} --seed ${state.seed} --rounds ${rounds} --workers ${workers}${file ? ` --state ${file}` : ''}`
  say(all)
  const reports = await runRounds({ program: command.program, input, ...numbers, state, onProgress: say })
  const faults = reports.flatMap((report) => report.faults)
  say(`\n${reportText(reports, line)}\n`)
  say(faults.length === 0 ? command.clean : `NOT CLEAN: ${faults.length} faults`)
  say(`The same blows in the same order (the machine decides the moments): ${all}`)
  return faults.length === 0 ? 0 : 1
}

function read({ options }: HuntCommand): Record<string, string | undefined> {
  const strings: Record<string, { type: 'string'; default?: string }> = {}
  for (const [name, fallback] of Object.entries({ ...OF_THE_RUN, ...options })) {
    strings[name] = { type: 'string', default: fallback }
  }
  const config: ParseArgsConfig = { options: { ...strings, seed: { type: 'string' }, state: { type: 'string' } } }
  return { ...(parseArgs(config).values as Record<string, string | undefined>) }
}

function commandLine({ script }: HuntCommand, input: Readonly<Record<string, string | undefined>>): string {
  const words = Object.entries(input).map(([name, value]) => `--${name} ${value}`)
  return [`npm run ${script} --`, ...words].join(' ')
}

function usage({ script, options, choices }: HuntCommand): string {
  const all = { ...options, ...choices, seed: 'S', ...OF_THE_RUN, state: 'FILE' }
  return `npm run ${script} -- ${Object.entries(all)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ')}`
}

function wholeNumber(name: string, given: string): number {
  const number = Number(given)
  if (Number.isSafeInteger(number) && number >= 1) return number
  throw new TypeError(`--${name} takes a whole number from 1, not ${given}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
