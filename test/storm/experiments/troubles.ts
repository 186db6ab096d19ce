import type { Random } from '../../../src/foundation/random.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { uniform } from '../dice.ts'
import type { Answering } from '../fleet.ts'
import { outage } from '../scenario.ts'
import { type Reply, ServerModel } from '../server-model.ts'

/* What befalls a server for a while. Before and after it the server is well. */

/** `hang`: the server takes the request and never answers. */
export type Fault = '503' | 'reset' | 'refused' | 'hang'

/** `started`: the client's first call falls into the trouble. */
export type Start = 'warm' | 'started'

export interface Load {
  readonly clients: number
  /** Of all clients together. */
  readonly perSecond: number
}

export interface Trouble extends Load {
  readonly group: string
  readonly name: string
  readonly fromMs: number
  readonly lastsMs: number
  readonly isSingle?: boolean
  newServer(seed: number): Answering
}

export const FAULTS: readonly Fault[] = ['503', 'reset', 'refused', 'hang']
const BLIPS_MS = [300, 1000, 3000, 10_000]
const RATES = [1, 10, 100, 1000]
const WARM_MS = 10_000
/** How far a server is with its answer when the connection is cut. */
const CUT_WITHIN_MS = 50
const FLAKY_MS = 60_000
const OUTAGE_MS = 30_000

export interface Blip extends Load {
  readonly fault: Fault
  readonly lastsMs: number
  readonly start?: Start
  /** Each call has a process of its own, as command lines have. */
  readonly isSingle?: boolean
}

/** A fleet's server has 30 % of its capacity to spare. A single process is a small part of what its server can take. */
export function blip({ fault, lastsMs, start = 'warm', isSingle = false, clients, perSecond }: Blip): Trouble {
  const from = start === 'warm' ? WARM_MS : 0
  return {
    group: `Blip: ${fault}`,
    name: `${lastsMs / 1000} s, ${nameOf({ clients, perSecond }, isSingle)}${start === 'warm' ? '' : ', just started'}`,
    isSingle,
    clients,
    perSecond,
    fromMs: from,
    lastsMs,
    newServer: (seed) => {
      const dice = seededRandom(`${seed}:faults`)
      const well = clients === 1 ? alwaysWell : new ServerModel(unbroken({ clients, perSecond }))
      const isIn = (now: number): boolean => now >= from && now < from + lastsMs
      return { arrive: (now) => (isIn(now) ? faulty(fault, now, dice) : well.arrive(now)) }
    },
  }
}

function nameOf({ clients, perSecond }: Load, isSingle: boolean): string {
  if (isSingle) return `${perSecond.toLocaleString('en')} processes/s with a call each`
  return clients === 1 ? `${perSecond}/s` : `${clients.toLocaleString('en')} x ${perSecond / clients}/s`
}

const alwaysWell: Answering = { arrive: (at) => ({ is: 'served', at, waitedMs: 0 }) }

function unbroken({ clients, perSecond }: Load): ReturnType<typeof outage>['server'] {
  return { ...outage({ clients, operationsPerSecond: perSecond }).server, downFrom: 0, downUntil: 0 }
}

const ANSWERED_AFTER_MS: Record<Fault, (dice: Random) => number> = {
  '503': () => 0,
  refused: () => 0,
  reset: (dice) => uniform(0, CUT_WITHIN_MS, dice),
  hang: () => Number.POSITIVE_INFINITY,
}

function faulty(fault: Fault, now: number, dice: Random): Reply {
  return { is: 'refused', at: now + ANSWERED_AFTER_MS[fault](dice), because: 'down', doNotRetry: false }
}

/** A share of the requests fails at random. */
export function flaky(rate: number, perSecond: number): Trouble {
  const newServer = (seed: number): Answering => {
    const dice = seededRandom(`${seed}:flaky`)
    return { arrive: (now) => (dice() < rate ? faulty('503', now, dice) : alwaysWell.arrive(now)) }
  }
  const name = `${rate * 100} % fail, ${perSecond}/s`
  return { group: 'Longer troubles', name, clients: 1, perSecond, fromMs: 0, lastsMs: FLAKY_MS, newServer }
}

/** Half of the usual load can be served. */
export function halfCapacity(refuses: 'early' | 'late'): Trouble {
  const load = { clients: 20, perSecond: 1000 }
  const { server } = outage({
    clients: load.clients,
    operationsPerSecond: load.perSecond,
    kind: 'slow',
    server: refuses === 'early' ? 'sheds' : 'queues',
  })
  const name = `half capacity, refuses ${refuses}, 20 x 50/s`
  const options = { ...server, downFrom: WARM_MS, downUntil: WARM_MS + OUTAGE_MS }
  const newServer = (): Answering => new ServerModel(options)
  return { group: 'Longer troubles', name, ...load, fromMs: WARM_MS, lastsMs: OUTAGE_MS, newServer }
}

/** Each answer takes this long, however few come at once, as it does if a server waits for another one. A share of the requests fails. */
export function slow({ tookMs, perSecond, rate = 0 }: Slow): Trouble {
  const newServer = (seed: number): Answering => {
    const dice = seededRandom(`${seed}:slow`)
    let isFirst = true
    return {
      arrive: (now) => {
        if (now < WARM_MS) return alwaysWell.arrive(now)
        const isRefused = isFirst || dice() < rate
        isFirst = false
        return isRefused ? faulty('503', now, dice) : { is: 'served', at: now + tookMs, waitedMs: 0 }
      },
    }
  }
  const name = `each answer takes ${tookMs / 1000} s, ${perSecond}/s`
  return { group: 'Longer troubles', name, clients: 1, perSecond, fromMs: WARM_MS, lastsMs: OUTAGE_MS, newServer }
}

export interface Slow {
  readonly tookMs: number
  readonly perSecond: number
  readonly rate?: number
}

export function dead(load: Load, fault: Fault = '503'): Trouble {
  const { name, ...trouble } = blip({ fault, lastsMs: OUTAGE_MS, ...load })
  return { ...trouble, group: 'Longer troubles', name: `outage by ${fault}, ${name}` }
}

const THOUSAND = { clients: 1000, perSecond: 1000 }
const TEN_THOUSAND = { clients: 10_000, perSecond: 1000 }

/** Of one process, by each fault, warm and just started; of fleets, whose server has little to spare. */
export function allBlips(): Trouble[] {
  return FAULTS.flatMap((fault) =>
    BLIPS_MS.flatMap((lastsMs) => [
      ...RATES.map((perSecond) => blip({ fault, lastsMs, clients: 1, perSecond })),
      ...RATES.map((perSecond) => blip({ fault, lastsMs, clients: 1, perSecond, start: 'started' })),
      blip({ fault, lastsMs, ...THOUSAND }),
      ...(ONCE_FOR_FLEETS.includes(fault) ? manyClients(fault, lastsMs) : []),
    ]),
  )
}

/** Resets and refusals are to a fleet what 503 is: an answer that comes at once. */
const ONCE_FOR_FLEETS: readonly Fault[] = ['503', 'hang']

function manyClients(fault: Fault, lastsMs: number): Trouble[] {
  return [blip({ fault, lastsMs, ...TEN_THOUSAND }), blip({ fault, lastsMs, ...THOUSAND, isSingle: true })]
}

export function allTroubles(): Trouble[] {
  return [
    ...allBlips(),
    ...[0.25, 0.5, 0.75].map((rate) => flaky(rate, 20)),
    halfCapacity('early'),
    halfCapacity('late'),
    dead({ clients: 1, perSecond: 200 }),
    dead({ clients: 1, perSecond: 200 }, 'hang'),
    dead(THOUSAND),
    dead(TEN_THOUSAND),
  ]
}
