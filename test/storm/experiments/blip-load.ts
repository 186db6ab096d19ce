import { runFleet } from '../fleet.ts'
import type { Policy } from '../policies/policy.ts'
import { outage } from '../scenario.ts'
import { blipPolicies } from './blips.ts'
import { blip, type Trouble } from './troubles.ts'

/* A blip, a tenth of a second at a time: what reaches the server? */

export interface BlipLoadRow {
  readonly policy: string
  readonly trouble: string
  readonly lastsMs: number
  readonly series: readonly LoadPoint[]
}

export interface LoadPoint {
  /** From the beginning of the blip. */
  readonly second: number
  /** Requests per second, as a multiple of the calls. */
  readonly load: number
}

const STEP_MS = 100
const BEFORE_MS = 500
const AFTER_MS = 4000
const LASTS_MS = 1000
/** As many runs as give a curve of so many calls per step. */
const CALLS_PER_STEP = 400

export function blipLoadTroubles(): Trouble[] {
  const one = blip({ fault: '503', lastsMs: LASTS_MS, clients: 1, perSecond: 100 })
  return [one, blip({ fault: '503', lastsMs: LASTS_MS, clients: 1000, perSecond: 1000 })]
}

/** Few enough to be told apart in one picture. */
export function blipLoadPolicies(): Policy[] {
  const shown = ['Holdfast', 'ky, 4 retries', 'axios-retry, 4 retries', 'p-retry', 'AWS SDK (standard)']
  return blipPolicies().filter(({ name }) => shown.includes(name))
}

export function blipLoadRow(trouble: Trouble, policy: Policy, { seed }: { readonly seed: number }): BlipLoadRow {
  const { name, lastsMs, perSecond } = trouble
  const callsPerStep = (perSecond * STEP_MS) / 1000
  const runs = Math.ceil(CALLS_PER_STEP / callsPerStep)
  const steps = (BEFORE_MS + lastsMs + AFTER_MS) / STEP_MS
  const counts = new Array<number>(steps).fill(0)
  for (let run = 0; run < runs; run++) countRequests(trouble, policy, { seed: seed + run, counts })
  const series = counts.map((count, step) => ({
    second: (step * STEP_MS - BEFORE_MS) / 1000,
    load: count / runs / callsPerStep,
  }))
  return { policy: policy.name, trouble: name, lastsMs, series }
}

interface Counting {
  readonly seed: number
  readonly counts: number[]
}

function countRequests(trouble: Trouble, policy: Policy, { seed, counts }: Counting): void {
  const { clients, perSecond: operationsPerSecond, fromMs, lastsMs } = trouble
  const server = trouble.newServer(seed)
  const arrive = (now: number): ReturnType<typeof server.arrive> => {
    const step = Math.floor((now - fromMs + BEFORE_MS) / STEP_MS)
    if (step in counts) counts[step] = (counts[step] ?? 0) + 1
    return server.arrive(now)
  }
  const scenario = { ...outage({ clients, operationsPerSecond }), until: fromMs + lastsMs + AFTER_MS }
  runFleet({ scenario, policy, seed, server: { arrive } })
}
