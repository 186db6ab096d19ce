import type { ClaimedRecord } from '../journal/record-keeper.ts'
import type { SettledStatus } from '../operation/record.ts'
import { claimant, deadOwners } from './claiming.ts'
import type { EngineContext } from './engine-context.ts'
import { type Resumed, resumeOne } from './resume-one.ts'

/** How the operations that a resume took up ended. `claimed` is the sum of the others. */
export type ResumeReport = { claimed: number; pending: number } & Record<SettledStatus, number>

export interface PassTerms {
  readonly concurrency: number
  /** Claim only what is due by then; infinity takes our own delays back. What a server asked for is always kept. */
  readonly dueBy: number
  /** Ends the pass early. */
  readonly stopped: () => boolean
  /** Origins that take nothing before a time, shared between the passes of one watch. */
  readonly skip: Map<string, number>
}

export function emptyReport(): ResumeReport {
  return { claimed: 0, succeeded: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0, pending: 0 }
}

/**
 * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
 * cursor and holds at most `concurrency` operations, so memory does not grow with the journal.
 */
export async function resumePass(engine: EngineContext, terms: PassTerms, report: ResumeReport): Promise<void> {
  await engine.keeper.open()
  const dead = await deadOwners(engine)
  const running = new Set<Promise<void>>()
  let after = 0
  try {
    while (!terms.stopped()) {
      const free = terms.concurrency - running.size
      const { claimed, last } = await claimSome(engine, terms, { dead, after, limit: free })
      const end = last === after
      after = last
      for (const one of claimed) start(engine, one, { terms, report, running })
      if (end && running.size === 0) return
      if (end || running.size >= terms.concurrency) await Promise.race(running)
    }
  } finally {
    await Promise.all(running)
  }
}

function claimSome(
  engine: EngineContext,
  terms: PassTerms,
  { dead, after, limit }: { readonly dead: readonly string[]; readonly after: number; readonly limit: number },
): Promise<{ claimed: ClaimedRecord[]; last: number }> {
  const now = engine.clock.now()
  for (const [origin, until] of terms.skip) if (until <= now) terms.skip.delete(origin)
  return engine.keeper.claim({
    ...claimant(engine, dead),
    after,
    limit,
    dueBy: terms.dueBy,
    deliverNames: engine.handlers.names,
    exceptOrigins: [...terms.skip.keys()],
  })
}

function start(
  engine: EngineContext,
  claimed: ClaimedRecord,
  { terms, report, running }: { terms: PassTerms; report: ResumeReport; running: Set<Promise<void>> },
): void {
  report.claimed++
  const done: Promise<void> = resumeOne(engine, claimed)
    .then(({ record, skipOrigin }: Resumed) => {
      report[record.status]++
      if (skipOrigin) terms.skip.set(skipOrigin.origin, skipOrigin.until)
    })
    .catch((error: unknown) => {
      report.pending++
      engine.events.tell({
        type: 'journal.failed',
        at: engine.clock.now(),
        error: error as Error,
        key: claimed.record.key,
      })
    })
    .finally(() => running.delete(done))
  running.add(done)
}
