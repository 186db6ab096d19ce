import type { GateState } from '../../../src/client/gate/gate-state.ts'
import type { Operation } from './policy.ts'

/** What a journal keeps: what is known of the origin, and the operations that a dead process left. */
export interface Memory {
  state: GateState | undefined
  readonly kept: Set<Operation>
}

export const newMemory = (): Memory => ({ state: undefined, kept: new Set() })
