import type { ClaimedRecord } from '../journal/record-keeper.ts'
import type { SettledStatus } from '../operation/record.ts'
import { adopt, claimant, deadOwners } from './claiming.ts'
import { Crew } from './crew.ts'
import type { EngineContext } from './engine-context.ts'
import { putBackUntouched, resumeOne } from './resume-one.ts'
import { isOffline } from './until-online.ts'

/** How often runners that hold a lease are checked for being alive, also within a long pass. */
const CHECK_RUNNERS_EVERY_MS = 5000

/** How the operations that a resume took up ended. `claimed` is the sum of the others. */
export type ResumeReport = { claimed: number; pending: number } & Record<SettledStatus, number>

export interface PassTerms {
  readonly crew: Crew
  /** Claim only what is due by then; the far future takes our own delays back. What a server asked for is always kept. */
  readonly dueBy: number
  /** Ends the pass early. */
  readonly stopped: () => boolean
  readonly report: ResumeReport
}

export function emptyReport(): ResumeReport {
  return { claimed: 0, succeeded: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0, pending: 0 }
}

/** One pass, to the end of everything that it took up. An explicit wish takes our own delays back. */
export async function resumeOnce(
  engine: EngineContext,
  concurrency: number,
  signal: AbortSignal,
): Promise<ResumeReport> {
  const crew = new Crew(concurrency)
  const report = emptyReport()
  const stopped = (): boolean => signal.aborted
  try {
    await engine.keeper.open()
    engine.containments.hurry()
    await resumePass(engine, { crew, dueBy: Number.MAX_SAFE_INTEGER, stopped, report })
  } finally {
    await crew.idle()
    engine.containments.calmDown()
  }
  return report
}

/**
 * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
 * cursor and never claims more than the crew can start, so memory does not grow with the journal. It ends
 * when everything has been started; the crew may still be at work.
 */
export async function resumePass(engine: EngineContext, terms: PassTerms): Promise<void> {
  await engine.keeper.open()
  engine.housekeeping.sweep(engine)
  let dead: readonly string[] = []
  let checkAt = Number.NEGATIVE_INFINITY
  for (let after = 0; ; ) {
    await terms.crew.roomy()
    if (terms.stopped() || isOffline(engine)) return
    if (engine.clock.now() >= checkAt) {
      dead = await deadOwners(engine)
      checkAt = engine.clock.now() + CHECK_RUNNERS_EVERY_MS
    }
    const { claimed, last } = await claimSome(engine, terms, { dead, after })
    if (terms.stopped()) return putAllBack(engine, claimed)
    for (const one of claimed) start(engine, one, { ...terms, dead })
    if (last === after) return
    after = last
  }
}

/** Claimed at the very moment at which the resume was stopped: free again at once. */
async function putAllBack(engine: EngineContext, claimed: readonly ClaimedRecord[]): Promise<void> {
  await Promise.all(claimed.map((one) => putBackUntouched(engine, one)))
}

function claimSome(
  engine: EngineContext,
  { crew, dueBy }: PassTerms,
  { dead, after }: { readonly dead: readonly string[]; readonly after: number },
): Promise<{ claimed: ClaimedRecord[]; last: number }> {
  return engine.keeper.claim({
    ...claimant(engine, dead),
    after,
    limit: crew.free,
    dueBy,
    deliverNames: engine.handlers.names,
    exceptOrigins: engine.containments.heldOrigins(),
  })
}

function start(
  engine: EngineContext,
  claimed: ClaimedRecord,
  { crew, report, dead }: PassTerms & { readonly dead: readonly string[] },
): void {
  if (adopt(engine, claimed)) return
  report.claimed++
  const work = async (): Promise<void> => {
    try {
      const { status } = await resumeOne(engine, claimed, dead)
      report[status]++
    } catch (cause) {
      report.pending++
      const error = cause as Error
      engine.events.tell({ type: 'journal.failed', error, key: claimed.record.key })
    }
  }
  crew.start(work())
}
