/** One round of the fleet's torture, in a process of its own, with a Postgres of its own. */
import { endAll } from '../support/child-process.ts'
import { startPostgres } from '../support/postgres-setup.ts'
import { serveRound } from '../support/rounds.ts'
import { faultsOf } from './faults-of.ts'
import { hunt } from './hunt.ts'
import { LEASE_MS, postgresPlace } from './postgres-place.ts'

type FleetInput = Readonly<Record<'operations' | 'processes' | 'kill-every', string>>

serveRound<FleetInput>(async ({ seed, folder, input }, onProgress) => {
  const processes = Number(input.processes)
  const postgres = await startPostgres()
  const place = await postgresPlace(postgres, { processes, hosts: 'each its own' })
  try {
    const terms = { operations: Number(input.operations), processes, killEvery: Number(input['kill-every']) }
    const result = await hunt({ folder, place, seed, ...terms, onProgress })
    const { blows, notDealt, claims, posted, accepted, takeovers, parked, requests, seconds, takeoverTimes } = result
    const late = takeoverTimes.laterThan(LEASE_MS + 5000)
    const numbers = { posted, accepted, requests, takeovers, 'takeovers after lease + 5 s': late, parked, seconds }
    const largest = {
      's median takeover': takeoverTimes.medianMs / 1000,
      's slowest takeover': takeoverTimes.slowestMs / 1000,
    }
    return { seed, faults: faultsOf(result), blows, notDealt, claims, numbers, largest }
  } finally {
    await endAll()
    await place.stop()
    await postgres.stop()
  }
})
