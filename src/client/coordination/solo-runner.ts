import { newRunnerId } from '../../foundation/identity.ts'
import type { Coordination } from './port.ts'

/** A runner that knows nothing of its neighbours: only a lapsed lease tells that one is gone. */
export function soloRunner(): Coordination {
  return { owner: newRunnerId(), findDead: () => [], onWake: () => () => {}, leave: () => {} }
}
