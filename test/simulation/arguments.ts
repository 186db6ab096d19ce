import { parseArgs } from 'node:util'

export const USAGE = `npm run simulate -- [options]

  --histories N   how many histories (default 2000)
  --seed S        the first seed; each further history has the next one (default: drawn, and printed)
  --minutes M     stop after so many minutes, however many histories that were
  --without a,b   leave these faults out; what remains happens as before
  --trace         print who did what when (one history)
  --workers W     how many processes (default: one for each core)
  --help          this text`

export interface SimulationArguments {
  readonly histories: number
  readonly seed: number
  readonly minutes: number
  readonly without: readonly string[]
  readonly trace: boolean
  readonly workers: number
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
      help: { type: 'boolean' },
    },
  })
  if (values.help) return 'help'
  const trace = values.trace ?? false
  const timed = values.minutes !== undefined
  return {
    histories: trace ? 1 : wholeNumber('histories', values.histories, timed ? Number.MAX_SAFE_INTEGER : 2000),
    seed: wholeNumber('seed', values.seed, defaults.seed),
    minutes: positive('minutes', values.minutes),
    without: values.without?.split(',') ?? [],
    trace,
    workers: wholeNumber('workers', values.workers, defaults.workers),
  }
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
