/** One round of the hunt, in a process of its own. */
import { endAll } from '../support/child-process.ts'
import { type RoundOrder, serveRound } from '../support/rounds.ts'
import type { Backstage } from './backstage.ts'
import { faultsOf } from './faults-of.ts'
import { hunt } from './hunt.ts'
import { postgresBackstage } from './postgres-backstage.ts'
import { openPgBouncerPlace, openPostgresPlace } from './postgres-place.ts'
import { sqliteBackstage } from './sqlite-backstage.ts'

interface HuntInput {
  readonly seconds: string
  readonly operations: string
  readonly store: string
}

serveRound<HuntInput>(async ({ seed, folder, input }, onProgress) => {
  const { backstage, stop } = await openStore({ seed, folder, input })
  try {
    const [seconds, operations] = [Number(input.seconds), Number(input.operations)]
    const result = await hunt({ folder, backstage, seed, seconds, operations, onProgress })
    await backstage.close()
    const { posted, accepted, effects, requests, takeovers, claimsLost, reconciled, stalls, parked } = result
    const { blows, notDealt, claims, seconds: took } = result
    const counted = { posted, accepted, effects, requests, takeovers, reconciled, stalls, parked, seconds: took }
    const numbers = { ...counted, 'claims lost': claimsLost }
    return { seed, faults: faultsOf(result), blows, notDealt, claims, numbers }
  } finally {
    await endAll()
    await stop()
  }
})

interface OpenStore {
  readonly backstage: Backstage
  readonly stop: () => Promise<void>
}

const PLACES = new Map([
  ['postgres', openPostgresPlace],
  ['pgbouncer', openPgBouncerPlace],
])

async function openStore({ seed, folder, input }: RoundOrder<HuntInput>): Promise<OpenStore> {
  if (input.store === 'sqlite') return { backstage: await sqliteBackstage(folder), stop: async () => {} }
  const open = PLACES.get(input.store)
  if (!open) throw new TypeError(`--store takes postgres, pgbouncer or sqlite, not ${input.store}`)
  const place = await open()
  return { backstage: await postgresBackstage(place, `holdfast_hunt_${process.pid}_${seed}`), stop: place.stop }
}
