import { tell } from '../operation/outcome.ts'
import type { EngineContext } from './engine-context.ts'
import { follow } from './follow.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import type { RunTerms } from './run-terms.ts'
import { runUnderLease } from './run-under-lease.ts'

/** Works on an operation whose lease we hold, from here to its finish. Never rejects. */
export async function work(engine: EngineContext, operation: LiveOperation, terms: RunTerms): Promise<Finish> {
  if (terms.persistence.durable) engine.live.add(operation)
  else engine.live.addUnwritten(operation)
  const finish = await runAndFollow(engine, operation, terms)
  engine.live.remove(operation)
  operation.finish(finish)
  if (finish.is === 'settled') tellFollowers(engine, operation, finish)
  return finish
}

/** Where another runner took it over, whoever waits here is told what came of it there. */
async function runAndFollow(engine: EngineContext, operation: LiveOperation, terms: RunTerms): Promise<Finish> {
  const finish = await runUnderLease(engine, operation, terms)
  if (finish.is !== 'lost' || (terms.mode === 'resume' && operation.callers === 0)) return finish
  operation.resetStop()
  try {
    return await follow(engine, operation, terms)
  } catch (cause) {
    const { record } = operation
    return { is: 'broken', error: tell({ record, reason: 'storage', pending: true, cause }) }
  }
}

/** Whoever waits in this client for the same operation need not find it in the journal, from where it may be gone. */
function tellFollowers(engine: EngineContext, operation: LiveOperation, finish: Finish & { is: 'settled' }): void {
  const { rest: _taken, ...told } = finish
  for (const follower of engine.followers) {
    if (follower !== operation && follower.record.key === operation.record.key) follower.learn(told)
  }
}
