import { IndeterminateError } from '../../errors/classes.ts'
import { abortReason, onAbort } from '../../foundation/abort.ts'
import { startTimer } from '../../foundation/clock.ts'
import type { EngineContext } from './engine-context.ts'

/** Who looks for an operation of the journal, and for how long. */
export interface Looking {
  readonly keyOrId: string
  readonly signal: AbortSignal | undefined
  readonly leaveAt: number
}

/**
 * What the journal says, unless the caller leaves first: a disk that hangs holds nobody. What became of the
 * operation only the journal could tell, so nothing is ruled out.
 */
export function lookInTime<T>(engine: EngineContext, look: Promise<T>, looking: Looking): Promise<T> {
  const { clock } = engine
  const { keyOrId, signal, leaveAt } = looking
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(abortReason(signal as AbortSignal)))
    const stopTimer = startTimer(clock, leaveAt - clock.now(), () => reject(lateError(keyOrId)))
    look
      .finally(() => {
        stopListening()
        stopTimer()
      })
      .then(resolve, reject)
  })
}

function lateError(keyOrId: string): IndeterminateError {
  const message = `The deadline passed before the journal could say what became of ${JSON.stringify(keyOrId)}`
  const operation = { key: keyOrId }
  return new IndeterminateError(message, { reason: 'deadline', effect: 'unknown', pending: true, operation })
}
