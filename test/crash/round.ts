/** One round of the torture, in a process of its own. */
import { endAll } from '../support/child-process.ts'
import { serveRound } from '../support/rounds.ts'
import { faultsOf } from './faults-of.ts'
import { hunt } from './hunt.ts'
import { sqlitePlace } from './journal-place.ts'

type TortureInput = Readonly<Record<'minutes' | 'operations' | 'processes' | 'kill-every', string>>

serveRound<TortureInput>(async ({ seed, folder, input }, onProgress) => {
  try {
    const result = await hunt({
      folder,
      place: sqlitePlace(folder),
      operations: Number(input.operations),
      processes: Number(input.processes),
      minutes: Number(input.minutes),
      seed,
      killEvery: Number(input['kill-every']),
      onProgress,
    })
    const { blows, notDealt, claims, posted, accepted, takeovers, parked, requests, seconds } = result
    const numbers = { posted, accepted, requests, takeovers, parked, seconds }
    return { seed, faults: faultsOf(result), blows, notDealt, claims, numbers }
  } finally {
    await endAll()
  }
})
