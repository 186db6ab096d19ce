import { parseArgs } from 'node:util'
import { ArgumentError, names, whole } from '../arguments.ts'
import { FAULTS } from '../experiments/troubles.ts'
import { type BlipChoice, CLIENT_NAMES, STARTS } from './blips/blip-trial.ts'
import { TRIALS, type TrialName } from './trials.ts'

export const SOCKET_EXPERIMENTS = ['model', 'blips', 'backlog'] as const
type SocketExperiment = (typeof SOCKET_EXPERIMENTS)[number]

export interface SocketOptions {
  readonly only: readonly SocketExperiment[]
  readonly runs: number
  readonly trials: readonly TrialName[]
  readonly blips: BlipChoice
  /** In the backlog. */
  readonly operations: number
  readonly json: string | undefined
  readonly pictures: string | undefined
}

const TRIAL_NAMES = Object.keys(TRIALS) as TrialName[]

export const HELP = `Real clients and a real server, each in a process of its own, on loopback.

  npm run storm:sockets -- [options]

  --only LIST       some of ${SOCKET_EXPERIMENTS.join(', ')}; all of them by default
  --json FILE       writes every number of the blips there as well
  --pictures FOLDER draws the picture of the blips into it, as SVG
  --help            shows this

model: the storm laboratory's model beside real clients, a quarter of an hour
  --trial LIST      some of ${TRIAL_NAMES.join(', ')}
  --runs NUMBER     of each trial, 3 by default

blips: a server that fails for a moment, Holdfast and its peers, twenty minutes
  --fault LIST      some of ${FAULTS.join(', ')}
  --seconds LIST    how long a blip lasts, 0.3,1,3,5 by default
  --rate LIST       calls per second, 10,100 by default
  --start LIST      some of ${STARTS.join(', ')}: does the first call begin before the blip or in it?
  --client LIST     some of ${CLIENT_NAMES.map((name) => name.replace(/,.*/, '')).join(', ')}
  --at-once NUMBER  how many clients run at the same time, 2 by default; more only if the machine has cores for it

backlog: a process that resumes what is in its journal, a minute
  --operations NUMBER  10000 by default
`

const OPTIONS = {
  only: { type: 'string' },
  trial: { type: 'string' },
  runs: { type: 'string', default: '3' },
  fault: { type: 'string' },
  seconds: { type: 'string', default: '0.3,1,3,5' },
  rate: { type: 'string', default: '10,100' },
  start: { type: 'string' },
  client: { type: 'string' },
  operations: { type: 'string', default: '10000' },
  'at-once': { type: 'string', default: '2' },
  json: { type: 'string' },
  pictures: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

export function readSocketArguments(args: readonly string[]): SocketOptions | 'help' {
  const { values } = parsed(args)
  if (values.help) return 'help'
  return {
    only: names('experiment', SOCKET_EXPERIMENTS, values.only ?? (values.trial && 'model')),
    runs: whole('runs', values.runs, 1),
    trials: names('trial', TRIAL_NAMES, values.trial),
    blips: {
      faults: names('fault', FAULTS, values.fault),
      seconds: numbers('seconds', values.seconds),
      rates: numbers('rate', values.rate),
      starts: names('start', STARTS, values.start),
      clients: clientsNamed(values.client),
      atOnce: whole('at-once', values['at-once'], 1),
    },
    operations: whole('operations', values.operations, 1),
    json: values.json,
    pictures: values.pictures,
  }
}

function parsed(args: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS })
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** By the part of their names before the comma. */
function clientsNamed(value: string | undefined): BlipChoice['clients'] {
  const short = CLIENT_NAMES.map((name) => name.replace(/,.*/, ''))
  const chosen = names('client', short, value)
  return CLIENT_NAMES.filter((_, index) => chosen.includes(short[index] ?? ''))
}

function numbers(name: string, list: string): number[] {
  return list.split(',').map((text) => {
    const value = Number(text)
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) {
      throw new ArgumentError(`--${name} takes numbers above 0; "${text}" is none.`)
    }
    return value
  })
}
