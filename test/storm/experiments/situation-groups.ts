import { candidates } from '../policies/candidates.ts'
import { type HoldfastOptions, holdfastPolicy } from '../policies/holdfast.ts'
import { peer, peerNames } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'
import { type OutageOptions, outage, type Scenario } from '../scenario.ts'
import { failingShare, fleetSituation, type Situation } from './situations.ts'

/** `default`: Holdfast as it comes. `variant`: with an option set. `candidate`: tried and rejected. */
export type Role = 'default' | 'variant' | 'candidate' | 'peer'

export interface Contender {
  readonly policy: Policy
  readonly role: Role
}

export const GROUP_NAMES = [
  'shares-1',
  'shares-20',
  'shares-200',
  'single',
  'half',
  'outage',
  'keep',
  'restarts',
  'tabs',
  'retry-after',
] as const
export type GroupName = (typeof GROUP_NAMES)[number]

/** Situations that are seen in one table and in one picture. */
export interface SituationGroup {
  readonly name: GroupName
  readonly title: string
  readonly situations: readonly Situation[]
  readonly contenders: readonly Contender[]
  /** The mean of so many seeds. */
  readonly runs: number
}

/** Where chance decides, one run says little. */
const MANY_RUNS = 10

const ours = (options?: HoldfastOptions): Contender => ({
  role: 'default',
  policy: holdfastPolicy('Holdfast', options),
})
const variant = (name: string, options: HoldfastOptions): Contender => ({
  role: 'variant',
  policy: holdfastPolicy(`Holdfast, ${name}`, options),
})
const keeping = (): Contender => variant('keep', { onGiveUp: 'keep' })
const peers = (): Contender[] => peerNames().map((name) => ({ role: 'peer', policy: peer(name) }))
const rejected = (): Contender[] => candidates().map((policy) => ({ role: 'candidate', policy }))

export function situationGroups(clients: readonly number[]): SituationGroup[] {
  return [
    ...([1, 20, 200] as const).map(shares),
    single(),
    half(),
    outages(clients),
    keep(clients),
    restarts(),
    tabs(),
    retryAfter(),
  ]
}

type PerSecond = keyof typeof LASTS_MS

/** So long that each has about as many operations; ten minutes at one per second. */
const LASTS_MS = { 1: 600_000, 20: 60_000, 200: 10_000 } as const

function shares(perSecond: PerSecond): SituationGroup {
  const load = { clients: 1, operationsPerSecond: perSecond, lastsMs: LASTS_MS[perSecond] }
  return {
    name: `shares-${perSecond}`,
    title: `A share of all requests fails at random: one process, ${perSecond} per second`,
    situations: [0.1, 0.25, 0.5, 0.75, 1].map((rate) => failingShare({ name: failing(rate), rate, ...load })),
    contenders: [ours(), ...rejected(), ...peers()],
    runs: MANY_RUNS,
  }
}

const failing = (rate: number): string => (rate === 1 ? 'all fail' : `${rate * 100} % fail`)

/** Many clients that make so many operations in a minute, on average. */
export function quietClients(rate: number, operationsPerClient: number): Situation {
  const load = { clients: 6000 / operationsPerClient, operationsPerSecond: 100, lastsMs: 60_000 }
  const name = `${operationsPerClient} per client, ${failing(rate)}`
  return failingShare({ name, rate, ...load })
}

function single(): SituationGroup {
  const variants = [variant('2 attempts', { retry: { maxAttempts: 2 } }), variant('burst 4', { budget: { burst: 4 } })]
  return {
    name: 'single',
    title: 'Clients with a single operation in a minute, and with six',
    situations: [quietClients(0.25, 1), quietClients(0.5, 1), quietClients(1, 1), quietClients(1, 6)],
    contenders: [ours(), ...variants, ...rejected(), ...peers()],
    runs: 1,
  }
}

function half(): SituationGroup {
  const slow = (options: Partial<OutageOptions>): Scenario =>
    outage({ clients: 1000, kind: 'slow', observedMs: 60_000, ...options })
  return {
    name: 'half',
    title: 'Half of the usual load can be served for 30 s',
    situations: [
      fleetSituation({ name: 'refuses early', scenario: slow({ server: 'sheds' }) }),
      fleetSituation({
        name: 'refuses early, says Do-Not-Retry',
        scenario: slow({ server: 'sheds', saysDoNotRetry: true }),
      }),
      fleetSituation({ name: 'refuses late', scenario: slow({ server: 'queues' }) }),
    ],
    contenders: [ours(), ...rejected(), ...peers()],
    runs: 1,
  }
}

function outages(clients: readonly number[]): SituationGroup {
  return {
    name: 'outage',
    title: 'All fails for 30 s; the same load from few and from many clients',
    situations: clients.map((count) => outageOf(count, 60_000)),
    contenders: [ours(), keeping(), ...rejected(), ...peers()],
    runs: 1,
  }
}

function outageOf(clients: number, observedMs: number): Situation {
  return fleetSituation({ name: `${clients.toLocaleString('en')} clients`, scenario: outage({ clients, observedMs }) })
}

/** So long that what was kept is done. The other peers are beside it in the shorter outage: they keep nothing for later. */
function keep(clients: readonly number[]): SituationGroup {
  return {
    name: 'keep',
    title: "All fails for 30 s, with onGiveUp: 'keep'",
    situations: clients.map((count) => outageOf(count, 200_000)),
    contenders: [ours(), keeping(), { role: 'peer', policy: peer('fetch') }],
    runs: 1,
  }
}

/** Processes of ten operations per second that crash while the server is down; pages that are reloaded all the time. */
function restarts(): SituationGroup {
  const crashing = outage({ clients: 100, observedMs: 30_000 })
  const reloaded = outage({ clients: 2000, observedMs: 30_000 })
  return {
    name: 'restarts',
    title: 'All fails for 30 s, and processes start again and again',
    situations: [
      fleetSituation({
        name: 'crashes every 5 s',
        scenario: crashing,
        restarts: { everyMs: 5000, from: crashing.server.downFrom, until: crashing.server.downUntil },
      }),
      fleetSituation({
        name: 'reloaded every 3 s',
        scenario: reloaded,
        restarts: { everyMs: 3000, from: 0, until: reloaded.until },
      }),
    ],
    contenders: [ours(), variant('state forgotten', { state: 'forgotten' }), keeping(), ...peers()],
    runs: 1,
  }
}

function tabs(): SituationGroup {
  return {
    name: 'tabs',
    title: 'All fails for 30 s; 2,000 browsers with two tabs each',
    situations: [fleetSituation({ name: 'two tabs', scenario: outage({ clients: 4000, observedMs: 30_000 }) })],
    contenders: [ours({ sharing: 2 }), variant('not shared', {}), ...peers()],
    runs: 1,
  }
}

function retryAfter(): SituationGroup {
  const { server, ...scenario } = outage({ clients: 1000, observedMs: 30_000 })
  const asking = { ...scenario, server: { ...server, retryAfterMs: 5000 } }
  return {
    name: 'retry-after',
    title: 'All fails for 30 s, and the server says Retry-After: 5',
    situations: [fleetSituation({ name: 'Retry-After: 5', scenario: asking })],
    contenders: [ours(), keeping(), ...peers()],
    runs: 1,
  }
}
