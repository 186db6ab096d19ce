import type { OperationRecord } from '../operation/record.ts'
import type { EngineContext } from './engine-context.ts'
import { withoutLease, withoutSecrets } from './kept-record.ts'
import type { LiveOperation } from './live-operation.ts'
import { reportFailure } from './report-failure.ts'

/** How a run writes down what it does. The same loop runs with a journal and without. */
export interface Persistence {
  readonly durable: boolean
  /** Writes the record as it is. False: the lease is lost, nothing was written. */
  save(operation: LiveOperation): Promise<boolean>
  /** Writes the settlement. */
  settle(operation: LiveOperation, terms: { readonly deliverHere: boolean }): Promise<boolean>
}

/** For calls that are not journaled: safe methods, and `durable: false`. */
export const unwritten: Persistence = {
  durable: false,
  save: async () => true,
  settle: async () => true,
}

/**
 * Must the settlement be on disk before it is told? Not a success that is told to its caller alone, where a server that
 * honours the key would answer a repeated request from its record.
 */
function mustBeWritten({ status, id, deliveryDue, awaited, honoursKeys }: OperationRecord): boolean {
  return status !== 'succeeded' || id !== undefined || deliveryDue || awaited || !honoursKeys
}

export function journaled(engine: EngineContext): Persistence {
  const { keeper } = engine
  return {
    durable: true,
    save: (operation) => keeper.commit(withoutSecrets(operation.record), operation.fence),
    settle(operation, { deliverHere }) {
      const { fence, record } = operation
      // A renewal that comes after this would find the lease gone, as it should be.
      if (!deliverHere) engine.leases.drop(operation)
      const written = keeper.commit(withoutSecrets(deliverHere ? record : withoutLease(record)), fence)
      if (mustBeWritten(record)) return written
      // The caller has its answer; its record rides along with the next write. A crash before that sends the
      // operation once more with its key, and the server answers from its own record.
      written.catch((error: unknown) => reportFailure(engine, operation, error))
      return Promise.resolve(true)
    },
  }
}
