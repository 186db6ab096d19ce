import { parseArgs } from 'node:util'

export const USAGE = `npm run simulate -- [options]

  --histories N   how many histories (default 2000)
  --seed S        the first seed; each further history has the next one (default: drawn, and printed)
  --minutes M     stop after so many minutes, however many histories that were
  --without a,b   leave these faults out; what remains happens as before
  --trace         print who did what when (one history)
  --workers W     how many processes (default: one for each core)
  --state FILE    keep there what is done: the same command goes on where an interrupted one was
  --help          this text`

export interface SimulationArguments {
  readonly histories: number
  readonly seed: number
  /** Did the command line say it? Otherwise a state file may know a better one. */
  readonly seedGiven: boolean
  readonly minutes: number
  readonly without: readonly string[]
  readonly trace: boolean
  readonly workers: number
  readonly state: string | undefined
}

/** Reads the command line; what it does not understand is a sentence for the person who typed it. */
export function readArguments(
  args: readonly string[],
  defaults: { readonly seed: number; readonly workers: number },
): SimulationArguments | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      histories: { type: 'string' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      without: { type: 'string' },
      trace: { type: 'boolean' },
      workers: { type: 'string' },
      state: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return 'help'
  const trace = values.trace ?? false
  const timed = values.minutes !== undefined
  return {
    histories: trace ? 1 : wholeNumber('histories', values.histories, timed ? Number.MAX_SAFE_INTEGER : 2000),
    seed: wholeNumber('seed', values.seed, defaults.seed),
    seedGiven: values.seed !== undefined,
    minutes: positive('minutes', values.minutes),
    without: values.without?.split(',') ?? [],
    trace,
    workers: wholeNumber('workers', values.workers, defaults.workers),
    state: values.state,
  }
}

/** The command that lets these histories happen again, or goes on with them. */
export function commandLine(
  { histories, minutes, without, workers, state }: SimulationArguments,
  seed: number,
): string {
  const words = [`npm run simulate -- --seed ${seed}`]
  if (Number.isFinite(minutes)) words.push(`--minutes ${minutes}`)
  if (histories !== Number.MAX_SAFE_INTEGER) words.push(`--histories ${histories}`)
  if (without.length > 0) words.push(`--without ${without.join(',')}`)
  words.push(`--workers ${workers}`)
  if (state !== undefined) words.push(`--state ${state}`)
  return words.join(' ')
}

/** The command that tells one history line by line. */
export function traceLine(seed: number | string, without: readonly string[]): string {
  return `npm run simulate -- --seed ${seed} --trace${without.length > 0 ? ` --without ${without.join(',')}` : ''}`
}

function wholeNumber(name: string, given: string | undefined, fallback: number): number {
  if (given === undefined) return fallback
  const number = Number(given.replaceAll('_', '').replaceAll(',', ''))
  if (!Number.isSafeInteger(number) || number < 1)
    throw new TypeError(`--${name} takes a whole number from 1, not ${given}`)
  return number
}

function positive(name: string, given: string | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  const number = Number(given)
  if (!(number > 0)) throw new TypeError(`--${name} takes a number above 0, not ${given}`)
  return number
}
