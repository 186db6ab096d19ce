import { onAbort } from '../../../foundation/abort.ts'
import { SetBack } from '../../../foundation/clock.ts'
import type { Engine } from '../engine.ts'
import { isOffline } from '../run/online.ts'
import { findDeadOwners } from './claiming.ts'
import { type EndOfPass, Resume } from './resume.ts'
import type { ResumeReport } from './resume-report.ts'

/** How often the journal is looked at for what other runners left there, unless these announce it. */
const LOOK_EVERY_MS = 500
/** After so long runners that hold a lease are checked for being alive; summed up, since a clock may be set back. */
const CHECK_EVERY_MS = 5000

/** Clocks are corrected by milliseconds all the time. */
const SLACK_MS = 1000

/** Keeps resuming until the signal aborts: new pending records, dead runners, coming online, a due time. */
export async function watch(engine: Engine, concurrency: number, signal: AbortSignal): Promise<ResumeReport> {
  const resume = new Resume(engine, concurrency, signal)
  const { coordination, options } = engine
  const wait: Wait = { signal, setBack: new SetBack(engine.clock), end: undefined }
  let takesDelaysBack = false
  const stopWaking = coordination.onActive(() => {
    takesDelaysBack = true
    wait.end?.()
  })
  // Another runner has left work that is due; it does not take the delays of others back.
  const stopHearing = coordination.onPeerMessage?.(({ is, namespace }) => {
    if (is === 'left' || (is === 'pending' && namespace === options.namespace)) wait.end?.()
  })
  try {
    while (!signal.aborted) {
      const dueBy = takesDelaysBack ? Number.MAX_SAFE_INTEGER : engine.clock.now()
      if (takesDelaysBack) engine.gates.wake()
      takesDelaysBack = false
      const end = await passSafely(engine, resume, { dueBy, signal })
      if (end === 'over' && (await untilThereIsWork(engine, resume, wait)) === 'set back') takesDelaysBack = true
    }
  } finally {
    stopWaking()
    stopHearing?.()
    await resume.idle()
  }
  return resume.report
}

/** A journal that fails for a while must not end the watch. */
async function passSafely(
  engine: Engine,
  resume: Resume,
  { dueBy, signal }: { readonly dueBy: number; readonly signal: AbortSignal },
): Promise<EndOfPass> {
  try {
    return await resume.pass(dueBy, 'one of many')
  } catch (error) {
    engine.upkeep.reportFailure(undefined, error)
    await engine.clock.sleep(LOOK_EVERY_MS, signal).catch(() => {})
    return 'over'
  }
}

/** A wait that others may end. */
interface Wait {
  readonly signal: AbortSignal
  readonly setBack: SetBack
  end: (() => void) | undefined
}

/**
 * Looks at intervals, without a write, until something is due, another runner calls, or one is found dead. `set back`: by the
 * clock as it goes now, what was put off by the old one may be due.
 */
async function untilThereIsWork(engine: Engine, resume: Resume, wait: Wait): Promise<'work' | 'set back'> {
  const controller = new AbortController()
  const stopListening = onAbort(wait.signal, () => controller.abort())
  wait.end = () => controller.abort()
  let stopCheck: (() => void) | undefined
  try {
    for (let pause = LOOK_EVERY_MS, waited = 0; !controller.signal.aborted; ) {
      await engine.clock.sleep(pause, controller.signal)
      waited += pause
      if (wait.setBack.takeMs() > SLACK_MS) return 'set back'
      const { nextDueAt, owners } = await resume.survey()
      const isDue = nextDueAt !== undefined && nextDueAt <= engine.clock.now()
      const isOff = isOffline(engine)
      if (isDue && !isOff) return 'work'
      if (isDue) stopCheck ??= wantNetwork(engine)
      // Whatever is due, it waits for the network.
      pause = pauseUntil(engine, isOff ? undefined : nextDueAt)
      if (waited < CHECK_EVERY_MS) continue
      waited = 0
      engine.upkeep.sweep(engine)
      if ((await findDeadOwners(engine, owners)).length > 0) return 'work'
    }
  } catch {
    // Ended, stopped, or the journal failed: the next pass finds out.
  } finally {
    stopCheck?.()
    stopListening()
    wait.end = undefined
  }
  return 'work'
}

/** What is due belongs to this client's own server, if it has one. */
function wantNetwork({ networkCheck, options }: Engine): (() => void) | undefined {
  return options.baseUrl && networkCheck.wanted(options.baseUrl.href)
}

/** Until the next operation is due, as far as that is known: others may leave one that is due earlier. */
function pauseUntil({ clock, coordination }: Engine, nextDueAt = Number.POSITIVE_INFINITY): number {
  const longest = coordination.longestPauseMs ?? LOOK_EVERY_MS
  return Math.min(longest, Math.max(LOOK_EVERY_MS, nextDueAt - clock.now()))
}
