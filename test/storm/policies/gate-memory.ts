import type { GateState } from '../../../src/client/gate/gate-state.ts'
import type { Operation } from './policy.ts'

/** What a journal keeps: what is known of the origin, and the operations that a dead process left. */
export interface GateMemory {
  state: GateState | undefined
  readonly kept: Set<Operation>
}

export const newGateMemory = (): GateMemory => ({ state: undefined, kept: new Set() })
