import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { uniform } from '../dice.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import type { Operation } from '../policies/policy.ts'
import { outage } from '../scenario.ts'
import { ServerModel } from '../server-model.ts'
import { VirtualTime } from '../virtual-time.ts'

export interface BacklogRow {
  readonly doneAfterMs: number
  readonly requests: number
}

/** One process finds so many operations that a crash left; a share of requests fails at random. */
export function backlogRow(operations: number, failing: number, seed: number): BacklogRow {
  const time = new VirtualTime()
  const { server: options, latencyMs } = outage({ clients: 1 })
  const server = new ServerModel({ ...options, downFrom: 0, downUntil: 0 })
  const random = seededRandom(`${seed}:backlog`)
  let requests = 0
  let done = 0
  let doneAfterMs = Number.POSITIVE_INFINITY
  const latency = (): number => uniform(latencyMs[0], latencyMs[1], random)
  const left = Array.from({ length: operations }, (): Operation => ({ startedAt: 0, attempts: 0 }))
  holdfastPolicy('Holdfast', { onGiveUp: 'keep' }).newClient(
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
      finish: () => {
        done++
        if (done === operations) doneAfterMs = time.now
      },
    },
    { state: undefined, kept: new Set(left) },
  )
  time.runUntil(3_600_000)
  return { doneAfterMs, requests: requests / operations }
}
