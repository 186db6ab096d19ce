import { isDeadOwner, newProcessOwner } from '../../foundation/process-owner.ts'
import type { Coordination } from './port.ts'

/** Which runners of this host are dead is told by their process ids. */
export function processLiveness(): Coordination {
  return { ...newProcessOwner(), findDead: (owners) => owners.filter(isDeadOwner), onWake: () => () => {} }
}
