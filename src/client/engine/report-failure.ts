import { StorageError } from '../../errors/classes.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/** Tells that the journal failed where no caller is left to be told. */
export function reportFailure(engine: EngineContext, operation: LiveOperation, error: unknown): void {
  const known = error instanceof Error ? error : new StorageError(String(error), { effect: 'unknown' })
  engine.events.tell({ type: 'journal.failed', error: known, key: operation.record.key })
}
