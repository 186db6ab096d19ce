import { newRunnerId } from '../../foundation/identity.ts'
import type { Coordination } from './port.ts'

/** No peers in reach: a runner counts as dead only when its lease has lapsed. */
export function leaseOnly(): Coordination {
  return { owner: newRunnerId(), findDead: () => [], onActive: () => () => {}, leave: () => {} }
}
