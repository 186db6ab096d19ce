import { parseArgs } from 'node:util'
import { SECTIONS, type SectionName } from './results.ts'
import { FULL, QUICK, type Terms } from './terms.ts'

export interface BenchOptions {
  readonly only: readonly SectionName[]
  readonly quick: boolean
  readonly terms: Terms
  readonly json: string | undefined
  readonly write: boolean
}

export const HELP = `Measures Holdfast beside other clients, on this machine, over loopback.

  npm run bench -- [options]

  --only LIST    some of ${SECTIONS.join(',')}; all of them by default (about three quarters of an hour),
                 or "none": nothing is measured, and --write makes the page from the numbers that are there
  --seconds N    how long a round takes, ${FULL.roundMs / 1000} by default
  --rounds N     how many rounds there are, ${FULL.rounds} by default
  --quick        the smallest run that shows that everything works; its numbers mean nothing
  --json FILE    writes every number there as well
  --write        puts the numbers into test/bench/results.json, and the tables and the picture made of them into docs/
  --help         shows this
`

/** A sentence for the person who typed it. */
export class ArgumentError extends Error {}

export function readArguments(args: readonly string[]): BenchOptions | 'help' {
  const values = parse(args)
  if (values.help) return 'help'
  const defaults = values.quick ? QUICK : FULL
  const rounds = positive('rounds', values.rounds) ?? defaults.rounds
  const seconds = positive('seconds', values.seconds)
  const terms = { ...defaults, rounds: Math.ceil(rounds), roundMs: seconds ? seconds * 1000 : defaults.roundMs }
  return { only: sections(values.only), quick: values.quick, terms, json: values.json, write: values.write }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new ArgumentError(`--${name} takes a positive number; "${text}" is none.`)
}

function sections(list: string | undefined): readonly SectionName[] {
  if (list === undefined) return SECTIONS
  if (list === 'none') return []
  return list.split(',').map((name) => {
    const found = SECTIONS.find((section) => section === name.trim())
    if (!found) throw new ArgumentError(`There is no section "${name}". There are ${SECTIONS.join(', ')}.`)
    return found
  })
}
