import { onAbort } from '../../foundation/abort.ts'
import { deadOwners } from './claiming.ts'
import { Crew } from './crew.ts'
import type { EngineContext } from './engine-context.ts'
import { emptyReport, type PassTerms, type ResumeReport, resumePass } from './resume.ts'
import { isOffline } from './until-online.ts'

/** How often the journal is looked at for what neighbours left there. */
const LOOK_EVERY_MS = 500
/** After so many looks (5 s) runners that hold a lease are checked for being alive; counted, since a clock may be set back. */
const LOOKS_BETWEEN_CHECKS = 10

/** Keeps resuming until the signal aborts: new pending records, dead runners, coming online, a due time. */
export async function watch(engine: EngineContext, concurrency: number, signal: AbortSignal): Promise<ResumeReport> {
  const report = emptyReport()
  const crew = new Crew(concurrency)
  const stopped = (): boolean => signal.aborted
  let hurry = false
  let wake: (() => void) | undefined
  const { coordination, options } = engine
  const stopWaking = coordination.onWake(() => {
    hurry = true
    wake?.()
  })
  // A neighbour says that something is due; it does not take anybody's delays back.
  const stopHearing = coordination.onHint?.(({ is, namespace }) => {
    if (is === 'left' || (is === 'pending' && namespace === options.namespace)) wake?.()
  })
  try {
    while (!stopped()) {
      const dueBy = hurry ? Number.MAX_SAFE_INTEGER : engine.clock.now()
      hurry = false
      await passSafely(engine, { crew, dueBy, stopped, report }, signal)
      const listen = (wakeUp: (() => void) | undefined): void => {
        wake = wakeUp
      }
      await untilThereIsWork(engine, { signal, listen })
    }
  } finally {
    stopWaking()
    stopHearing?.()
    await crew.idle()
  }
  return report
}

/** A journal that fails for a while must not end the watch. */
async function passSafely(engine: EngineContext, terms: PassTerms, signal: AbortSignal): Promise<void> {
  try {
    await resumePass(engine, terms)
  } catch (error) {
    engine.events.tell({ type: 'journal.failed', at: engine.clock.now(), error: error as Error })
    await engine.clock.sleep(LOOK_EVERY_MS, signal).catch(() => {})
  }
}

interface WaitTerms {
  readonly signal: AbortSignal
  readonly listen: (wakeUp: (() => void) | undefined) => void
}

function nextDue(engine: EngineContext): Promise<number | undefined> {
  return engine.keeper.nextDue({
    namespace: engine.options.namespace,
    deliverNames: engine.handlers.names,
    exceptOrigins: engine.containments.heldOrigins(),
  })
}

/** Looks at intervals, without a write, until something is due, a neighbour calls, or a runner is found dead. */
async function untilThereIsWork(engine: EngineContext, { signal, listen }: WaitTerms): Promise<void> {
  const controller = new AbortController()
  const stopListening = onAbort(signal, () => controller.abort())
  listen(() => controller.abort())
  try {
    for (let looks = 1; !controller.signal.aborted; looks++) {
      await engine.clock.sleep(LOOK_EVERY_MS, controller.signal)
      if (isOffline(engine)) continue
      const due = await nextDue(engine)
      if (due !== undefined && due <= engine.clock.now()) return
      if (looks % LOOKS_BETWEEN_CHECKS > 0) continue
      engine.housekeeping.sweep(engine)
      if ((await deadOwners(engine)).length > 0) return
    }
  } catch {
    // Woken, stopped, or the journal failed: the next pass finds out.
  } finally {
    stopListening()
    listen(undefined)
  }
}
