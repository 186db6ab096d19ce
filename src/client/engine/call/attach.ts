import { abortReason, onAbort } from '../../../foundation/abort.ts'
import { startTimer } from '../../../foundation/clock.ts'
import type { Deadline } from '../../../foundation/deadline.ts'
import { waitAtMost, waitFor } from '../../../foundation/wait.ts'
import { isResponse } from '../../../protocol/stored-message.ts'
import { operationError } from '../../operation/outcome.ts'
import type { Engine } from '../engine.ts'
import { boundedStream } from '../run/answer-rest.ts'
import type { Finish, LiveOperation } from '../run/live-operation.ts'

/** How long an abort waits for its settlement to be written down before the caller is told anyway. */
const ABORT_PATIENCE_MS = 30

/** A run ends at its deadline by itself, unless the journal gives no answer: its caller waits so long for that. */
const JOURNAL_PATIENCE_MS = 5000

/** After how long the caller of a run leaves it. */
export function patienceMs({ leftMs }: Pick<Deadline, 'leftMs'>): number {
  return leftMs + JOURNAL_PATIENCE_MS
}

export interface AttachTerms {
  readonly signal?: AbortSignal | undefined
  /** After how long this caller stops waiting. The run goes on. */
  readonly leaveInMs?: number | undefined
}

/** The finish of an operation for one more caller, unless that caller leaves before. */
export function attach(
  { clock, sharedTimers }: Pick<Engine, 'clock' | 'sharedTimers'>,
  operation: LiveOperation,
  { signal, leaveInMs = Number.POSITIVE_INFINITY }: AttachTerms,
): Promise<Finish> {
  operation.callers++
  let isHere = true
  const shared = operation.finished.then((finish) => (isHere ? bindTo(signal, operation.share(finish)) : finish))
  if (!signal && leaveInMs === Number.POSITIVE_INFINITY) return shared
  return waitFor(shared, (end) => {
    // Counted out once, whichever way the caller leaves.
    const leave = (instead: () => Finish | Promise<Finish>): void => {
      if (!isHere) return
      isHere = false
      operation.callers--
      end(instead)
    }
    const stopListening = onAbort(signal, () => {
      leave(() => abandonIfLast(clock, operation, signal as AbortSignal))
    })
    const goLate = (): void => leave(() => keptOf(operation))
    let cancelTimer = sharedTimers.after(leaveInMs, () => {
      cancelTimer = lastPatience(clock, operation, goLate)
    })
    return () => {
      stopListening()
      cancelTimer()
    }
  })
}

/** A process that stood still may have its answer long after the deadline: the journal has its time all the same. */
function lastPatience(clock: Engine['clock'], { record }: LiveOperation, leave: () => void): () => void {
  const left = record.settledAt === undefined ? 0 : record.settledAt + JOURNAL_PATIENCE_MS - clock.now()
  if (left > 0) return startTimer(clock, Math.min(left, JOURNAL_PATIENCE_MS), leave)
  leave()
  return () => {}
}

/** A success stands, whether or not the journal has answered that it is written. */
function keptOf({ record }: LiveOperation): Finish {
  if (record.status === 'succeeded' && record.response?.bodyOmitted === false)
    return { is: 'settled', record, rest: undefined }
  return { is: 'kept', record, error: operationError({ record, reason: 'deadline', pending: true }) }
}

/** The signal goes on to end a large answer while it is being read, as fetch has it. */
function bindTo(signal: AbortSignal | undefined, finish: Finish): Finish {
  // The platform's fetch was given the signal.
  if (!signal || finish.is !== 'settled' || !finish.rest || isResponse(finish.rest)) return finish
  return { ...finish, rest: boundedStream(finish.rest, signal) }
}

/**
 * Other callers may still wait for it: with the last one to leave, the work here ends. The operation is cancelled, unless it
 * goes on without these callers. A resume that works on it never waited for them.
 */
async function abandonIfLast(clock: Engine['clock'], operation: LiveOperation, signal: AbortSignal): Promise<never> {
  const cause = abortReason(signal)
  if (operation.callers === 0 && !operation.slot) {
    operation.stop({ because: 'abandoned', cause })
    await waitAtMost<unknown>(clock, operation.finished, { ms: ABORT_PATIENCE_MS, late: () => undefined })
  }
  throw cause
}
