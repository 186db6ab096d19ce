import { abortReason, onAbort } from '../../foundation/abort.ts'
import { startTimer } from '../../foundation/clock.ts'
import { inTime } from '../../foundation/in-time.ts'
import { isResponse } from '../../protocol/stored-message.ts'
import { tell } from '../operation/outcome.ts'
import { boundedStream } from './bounded-stream.ts'
import type { EngineContext } from './engine-context.ts'
import type { Finish, LiveOperation } from './live-operation.ts'

/** How long an abort waits for its settlement to be written down before the caller is told anyway. */
const ABORT_PATIENCE_MS = 30

export interface CallerTerms {
  readonly signal: AbortSignal | undefined
  /** For one who joined somebody else's run: when this caller stops waiting. The run itself goes on. */
  readonly leaveAt?: number | undefined
}

/** One caller's view of an operation: its finish, unless this caller leaves before. */
export function attach(engine: EngineContext, operation: LiveOperation, terms: CallerTerms): Promise<Finish> {
  operation.callers++
  if (!terms.signal && terms.leaveAt === undefined) return operation.finished.then((finish) => operation.share(finish))
  return new Promise<Finish>((resolve, reject) => {
    let here = true
    let stopTimer = (): void => {}
    const stopListening = onAbort(terms.signal, () => void leaveByAbort().then(reject))
    if (here && terms.leaveAt !== undefined) {
      stopTimer = startTimer(engine.clock, terms.leaveAt - engine.clock.now(), leaveLate)
    }
    // Nobody leaves twice: whoever is counted out by one way does not take another caller along by the other.
    function leave(): void {
      here = false
      operation.callers--
      stopTimer()
    }
    function leaveLate(): void {
      leave()
      stopListening()
      const { record } = operation
      resolve({ is: 'kept', record, error: tell({ record, reason: 'deadline', pending: true }) })
    }
    async function leaveByAbort(): Promise<unknown> {
      leave()
      const cause = abortReason(terms.signal as AbortSignal)
      // Others may still wait for it: only the last one to leave takes the operation along.
      if (operation.callers === 0) await cancelWithin(engine, operation, cause)
      return cause
    }
    void operation.finished.then((finish) => {
      stopListening()
      stopTimer()
      if (here) resolve(boundTo(terms.signal, operation.share(finish)))
    })
  })
}

/** The signal goes on to end a large answer while it is being read, as fetch has it. */
function boundTo(signal: AbortSignal | undefined, finish: Finish): Finish {
  if (!signal || finish.is !== 'settled' || !finish.rest) return finish
  // The platform's fetch was given the signal.
  if (isResponse(finish.rest)) return finish
  return { ...finish, rest: boundedStream(finish.rest, signal) }
}

async function cancelWithin(engine: EngineContext, operation: LiveOperation, cause: unknown): Promise<void> {
  operation.stop({ because: 'cancelled', cause })
  await inTime(engine.clock, operation.finished, { ms: ABORT_PATIENCE_MS, late: () => undefined }).catch(() => {})
}
