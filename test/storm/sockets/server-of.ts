import { seededRandom } from '../../../src/testing/seeded-random.ts'
import type { Answering } from '../fleet.ts'
import { ServerModel } from '../server-model.ts'
import type { Trial } from './trials.ts'

/** The same server for the model, on virtual time, and for real requests. */
export function serverOf({ failing, scenario }: Trial, seed: number): Answering {
  if (failing === undefined) return new ServerModel(scenario.server)
  const dice = seededRandom(`${seed}:failures`)
  return {
    arrive: (at) =>
      dice() < failing
        ? { is: 'refused', at, because: 'overload', doNotRetry: false }
        : { is: 'served', at, waitedMs: 0 },
  }
}
