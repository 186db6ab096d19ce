import type { ClaimedRecord } from '../journal/record-keeper.ts'
import type { SettledStatus } from '../operation/record.ts'
import { claimant, deadOwners } from './claiming.ts'
import type { Crew } from './crew.ts'
import type { EngineContext } from './engine-context.ts'
import { resumeOne } from './resume-one.ts'

/** How the operations that a resume took up ended. `claimed` is the sum of the others. */
export type ResumeReport = { claimed: number; pending: number } & Record<SettledStatus, number>

export interface PassTerms {
  readonly crew: Crew
  /** Claim only what is due by then; the far future takes our own delays back. What a server asked for is always kept. */
  readonly dueBy: number
  /** Ends the pass early. */
  readonly stopped: () => boolean
  /** Origins that take nothing before a time, shared between the passes of one watch. */
  readonly skip: Map<string, number>
  readonly report: ResumeReport
}

export function emptyReport(): ResumeReport {
  return { claimed: 0, succeeded: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0, pending: 0 }
}

/**
 * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
 * cursor and never claims more than the crew can start, so memory does not grow with the journal. It ends
 * when everything has been started; the crew may still be at work.
 */
export async function resumePass(engine: EngineContext, terms: PassTerms): Promise<void> {
  await engine.keeper.open()
  engine.housekeeping.sweep(engine)
  const dead = await deadOwners(engine)
  for (let after = 0; ; ) {
    await terms.crew.roomy()
    if (terms.stopped()) return
    const { claimed, last } = await claimSome(engine, terms, { dead, after })
    for (const one of claimed) start(engine, one, terms)
    if (last === after) return
    after = last
  }
}

function claimSome(
  engine: EngineContext,
  { crew, skip, dueBy }: PassTerms,
  { dead, after }: { readonly dead: readonly string[]; readonly after: number },
): Promise<{ claimed: ClaimedRecord[]; last: number }> {
  const now = engine.clock.now()
  for (const [origin, until] of skip) if (until <= now) skip.delete(origin)
  return engine.keeper.claim({
    ...claimant(engine, dead),
    after,
    limit: crew.free,
    dueBy,
    deliverNames: engine.handlers.names,
    exceptOrigins: [...skip.keys()],
  })
}

function start(engine: EngineContext, claimed: ClaimedRecord, { crew, report, skip }: PassTerms): void {
  report.claimed++
  const work = async (): Promise<void> => {
    try {
      const { record, skipOrigin } = await resumeOne(engine, claimed)
      report[record.status]++
      if (skipOrigin) skip.set(skipOrigin.origin, skipOrigin.until)
    } catch (cause) {
      report.pending++
      const error = cause as Error
      engine.events.tell({ type: 'journal.failed', at: engine.clock.now(), error, key: claimed.record.key })
    }
  }
  crew.start(work())
}
