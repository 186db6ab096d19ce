import { parseArgs } from 'node:util'
import { GROUP_NAMES, type GroupName } from './experiments/situation-groups.ts'

export const EXPERIMENTS = [
  'situations',
  'blips',
  'backlog',
  'load',
  'jitter',
  'layers',
  'contention',
  'shared-budget',
] as const
export type Experiment = (typeof EXPERIMENTS)[number]

export interface StormOptions {
  readonly clients: readonly number[]
  readonly seed: number
  readonly only: readonly Experiment[]
  readonly situations: readonly GroupName[]
  readonly json: string | undefined
  readonly pictures: string | undefined
}

export const HELP = `Simulates fleets of clients in front of a server that fails and comes back, on a virtual clock.

  npm run storm -- [options]

  --only LIST       some of ${EXPERIMENTS.join(', ')}; all of them by default
  --situations LIST only these situations: ${GROUP_NAMES.join(', ')}
  --clients LIST    sizes of the fleet in an outage, by default 100,1000,10000 (in all about a quarter of an hour;
                    100000 takes two more)
  --seed NUMBER     the same seed gives the same numbers; 1 by default
  --json FILE       writes every number there as well
  --pictures FOLDER draws the pictures into it, as SVG
  --help            shows this
`

/** A sentence for whoever typed it. */
export class ArgumentError extends Error {}

const OPTIONS = {
  only: { type: 'string' },
  situations: { type: 'string' },
  clients: { type: 'string', default: '100,1000,10000' },
  seed: { type: 'string', default: '1' },
  json: { type: 'string' },
  pictures: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

export function readArguments(args: readonly string[]): StormOptions | 'help' {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') throw new ArgumentError(`I don't know what to do with "${token.value}".`)
    if (token.kind === 'option') checkOption(token.name, token.value)
  }
  if (values.help) return 'help'
  const clients = list(values.clients).map((text) => whole('clients', text, 1))
  const seed = whole('seed', String(values.seed), 0)
  const only = names('experiment', EXPERIMENTS, values.only ?? (values.situations && 'situations'))
  const situations = names('situation', GROUP_NAMES, values.situations)
  return { clients, seed, only, situations, json: text(values.json), pictures: text(values.pictures) }
}

function checkOption(name: string, value: string | undefined): void {
  if (!(name in OPTIONS)) {
    const known = Object.keys(OPTIONS).map((option) => `--${option}`)
    throw new ArgumentError(`There is no option --${name}. There are ${known.join(', ')}.`)
  }
  if (name !== 'help' && !value) throw new ArgumentError(`--${name} needs a value.`)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function list(value: unknown): string[] {
  return (text(value) ?? '').split(',').map((part) => part.trim())
}

export function whole(name: string, text: string, least: number): number {
  const value = Number(text)
  if (text === '' || !Number.isSafeInteger(value) || value < least) {
    throw new ArgumentError(`--${name} takes whole numbers from ${least}; "${text}" is none.`)
  }
  return value
}

/** Some of the names that there are. */
export function names<Name extends string>(kind: string, known: readonly Name[], value: unknown): readonly Name[] {
  if (value === undefined) return known
  return list(value).map((name) => {
    const found = known.find((candidate) => candidate === name)
    if (!found) throw new ArgumentError(`There is no ${kind} "${name}". There are ${known.join(', ')}.`)
    return found
  })
}
