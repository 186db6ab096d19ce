import { isDeadOwner, newProcessOwner } from '../../foundation/process-owner.ts'
import type { Coordination } from './port.ts'

/** Finds dead runners of this host by their process ids. */
export function processLiveness(): Coordination {
  return { ...newProcessOwner(), findDead: (owners) => owners.filter(isDeadOwner), onActive: () => () => {} }
}
