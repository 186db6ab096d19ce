import type { EngineContext } from './engine-context.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { Run } from './run.ts'
import type { RunTerms } from './run-terms.ts'

/** One run, its lease renewed while it lasts. Never rejects. */
export async function runUnderLease(engine: EngineContext, operation: LiveOperation, terms: RunTerms): Promise<Finish> {
  if (terms.persistence.durable) engine.leases.hold(operation)
  operation.record = engine.horizons.bound(operation.record)
  const finish = await new Run(engine, operation, terms).go()
  // A delivery that has begun keeps the lease until it is done.
  if (terms.persistence.durable && !operation.delivered) engine.leases.drop(operation)
  return finish
}
