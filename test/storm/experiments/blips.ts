import { runFleet } from '../fleet.ts'
import { quantile } from '../measures.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import type { ClientModel, Operation, Policy, World } from '../policies/policy.ts'
import { retryingPolicy } from '../policies/retrying-client.ts'
import { outage } from '../scenario.ts'
import type { Trouble } from './troubles.ts'

/* A server that is away for a moment, or for longer: what becomes of the calls that begin meanwhile? */

export interface BlipRow {
  readonly group: string
  readonly trouble: string
  readonly policy: string
  /** The share of the calls begun in the trouble that succeed, and of those begun in the 2 s after it. */
  readonly successIn: number
  readonly successAfter: number
  /** The share of the calls begun between 1 and 3 s after the trouble that succeed. */
  readonly successLater: number
  /** Of the calls begun in the trouble, per call. */
  readonly requests: number
  /** How long the calls took that began in the trouble and succeeded. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** How long callers waited for an error that began 6 s after the start of the trouble or later, for 99 % of them. */
  readonly toldAfterMs: number
}

interface Watched {
  readonly operation: Operation
  succeeded: boolean
  endedAt: number
}

/** As many runs as give this number of calls in the trouble, but not more than that number of runs. */
const ENOUGH_CALLS = 300
const MOST_RUNS = 100
const AFTER_MS = 2000
const LATER_MS = [1000, 3000] as const
const KNOWN_MS = 6000
/** Calls go on to come for this long and for as long as the trouble lasted: what waits must compete with them. */
const OBSERVED_MS = 5000

/** ky and axios-retry with as many retries as Holdfast makes; the others as they come. */
export function blipPolicies(): Policy[] {
  const fourRetries = [peer('ky', 4), axiosRetryExponential()]
  const asTheyCome = (['got', 'pRetry', 'aws', 'cockatielBreaker'] as const).map((name) => peer(name))
  return [holdfastPolicy('Holdfast'), ...fourRetries, ...asTheyCome, peer('fetch')]
}

/** axios-retry with `retries: 4, retryDelay: exponentialDelay`. */
function axiosRetryExponential(): Policy {
  const backoff = () => (retry: number, random: () => number) => 200 * 2 ** retry * (1 + 0.2 * random())
  return retryingPolicy({ name: 'axios-retry, 4 retries', retries: 4, backoff })
}

export function blipRow(trouble: Trouble, policy: Policy, { seed }: { readonly seed: number }): BlipRow {
  const { perSecond, lastsMs, fromMs } = trouble
  const runs = Math.min(MOST_RUNS, Math.ceil(ENOUGH_CALLS / ((perSecond * lastsMs) / 1000)))
  const calls = Array.from({ length: runs }, (_, run) => watch(trouble, policy, seed + run)).flat()
  const begun = (from: number, until: number): Watched[] =>
    calls.filter(({ operation: { startedAt } }) => startedAt >= fromMs + from && startedAt < fromMs + until)
  const within = begun(0, lastsMs)
  const after = begun(lastsMs, lastsMs + AFTER_MS)
  const later = begun(lastsMs + LATER_MS[0], lastsMs + LATER_MS[1])
  const times = sortedTimes(within.filter(({ succeeded }) => succeeded))
  const told = sortedTimes(begun(KNOWN_MS, lastsMs).filter(({ succeeded }) => !succeeded))
  return {
    group: trouble.group,
    trouble: trouble.name,
    policy: policy.name,
    successIn: successOf(within),
    successAfter: successOf(after),
    successLater: successOf(later),
    requests: within.reduce((sum, { operation }) => sum + operation.attempts, 0) / within.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    toldAfterMs: quantile(told, 0.99),
  }
}

const successOf = (calls: readonly Watched[]): number =>
  calls.filter(({ succeeded }) => succeeded).length / calls.length

function sortedTimes(calls: readonly Watched[]): number[] {
  return calls.map(({ operation, endedAt }) => endedAt - operation.startedAt).sort((one, other) => one - other)
}

function watch(trouble: Trouble, policy: Policy, seed: number): Watched[] {
  const { clients, perSecond: operationsPerSecond, fromMs, lastsMs } = trouble
  const calls = new Map<Operation, Watched>()
  const scenario = { ...outage({ clients, operationsPerSecond }), until: fromMs + 2 * lastsMs + OBSERVED_MS }
  const clientsOf = trouble.isSingle ? oneCallEach(policy) : policy
  runFleet({ scenario, policy: watched(clientsOf, calls), seed, server: trouble.newServer(seed) })
  return [...calls.values()]
}

function oneCallEach(policy: Policy): Policy {
  const newClient = (world: World): ClientModel => ({
    submit: (operation) => policy.newClient(world).submit(operation),
  })
  return { name: policy.name, newClient }
}

/** The same policy, with every call and its end written down. */
function watched(policy: Policy, calls: Map<Operation, Watched>): Policy {
  return {
    name: policy.name,
    newClient: (world) => {
      const client = policy.newClient({
        get now() {
          return world.now
        },
        random: world.random,
        after: (ms, run) => world.after(ms, run),
        send: (operation, ended) => world.send(operation, ended),
        settle: (operation, as) => {
          const call = calls.get(operation)
          if (call) Object.assign(call, { succeeded: as === 'succeeded', endedAt: world.now })
          world.settle(operation, as)
        },
        finish: (operation) => world.finish(operation),
      })
      return {
        submit: (operation) => {
          calls.set(operation, { operation, succeeded: false, endedAt: Number.POSITIVE_INFINITY })
          client.submit(operation)
        },
      }
    },
  }
}
