import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { uniform } from '../dice.ts'
import { quantile } from '../measures.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import type { Operation, Policy } from '../policies/policy.ts'
import { outage } from '../scenario.ts'
import { ServerModel } from '../server-model.ts'
import { VirtualTime } from '../virtual-time.ts'

/* One process finds the operations that a crash left, and goes on with them while a share of requests fails at random. */

export interface BacklogRow {
  readonly failing: number
  /** Half of the runs are done with half of the operations by then, with 99 %, and with all; infinite: not in an hour. */
  readonly halfMs: number
  readonly mostMs: number
  readonly allMs: number
  /** The slowest run's. */
  readonly longestMs: number
  /** Per operation. */
  readonly requests: number
}

interface Run {
  /** When each operation was done, in ascending order; infinite for what was not done. */
  readonly ends: readonly number[]
  readonly requests: number
}

const AN_HOUR_MS = 3_600_000
export const BACKLOG_SHARES: readonly number[] = [0, 0.01, 0.1, 0.25, 0.5]

export interface BacklogOptions {
  readonly operations: number
  readonly seed: number
  readonly runs: number
  readonly policy?: Policy
}

export function backlogRow(failing: number, options: BacklogOptions): BacklogRow {
  const { operations, seed, runs, policy = holdfastPolicy('Holdfast', { onGiveUp: 'keep' }) } = options
  const all = Array.from({ length: runs }, (_, run) => oneRun(policy, failing, { operations, seed: seed + run }))
  const times = (share: number): number[] => all.map(({ ends }) => quantile(ends, share)).sort((a, b) => a - b)
  return {
    failing,
    halfMs: quantile(times(0.5), 0.5),
    mostMs: quantile(times(0.99), 0.5),
    allMs: quantile(times(1), 0.5),
    longestMs: quantile(times(1), 1),
    requests: all.reduce((sum, { requests }) => sum + requests, 0) / (runs * operations),
  }
}

function oneRun(policy: Policy, failing: number, { operations, seed }: Omit<BacklogOptions, 'runs'>): Run {
  const time = new VirtualTime()
  const { server: options, latencyMs } = outage({ clients: 1 })
  const server = new ServerModel({ ...options, downFrom: 0, downUntil: 0 })
  const random = seededRandom(`${seed}:backlog`)
  let requests = 0
  const ends: number[] = []
  const latency = (): number => uniform(latencyMs[0], latencyMs[1], random)
  const left = Array.from({ length: operations }, (): Operation => ({ startedAt: 0, attempts: 0 }))
  policy.newClient(
    {
      get now() {
        return time.now
      },
      random,
      after: (ms, run) => time.after(ms, run),
      send: (_operation, ended) => {
        requests++
        time.after(latency(), () => {
          const reply = server.arrive(time.now)
          const end = random() < failing ? 'refused' : 'success'
          time.at(reply.at + latency(), () => ended(end))
        })
      },
      settle: () => {},
      finish: () => ends.push(time.now),
    },
    { state: undefined, kept: new Set(left) },
  )
  time.runUntil(AN_HOUR_MS)
  while (ends.length < operations) ends.push(Number.POSITIVE_INFINITY)
  return { ends, requests }
}
