import { NotSentError } from '../../errors/classes.ts'
import { abortReason, onAbort } from '../../foundation/abort.ts'
import { type Clock, startTimer } from '../../foundation/clock.ts'
import { tellUnrecorded, type Unrecorded } from '../operation/outcome.ts'
import type { EngineContext } from './engine-context.ts'
import type { Submission } from './submit.ts'

/**
 * The caller's way out while there is no operation yet: its signal, its deadline, or a cancel. A body that
 * never ends or a journal that never opens can't hold a caller for longer than that.
 */
export class EarlyExit {
  #taken = false
  #leave: (() => void) | undefined

  take(): void {
    this.#taken = true
    this.#leave?.()
  }

  get taken(): boolean {
    return this.#taken
  }

  /** What the work gives, unless the caller leaves first. Neither a listener nor a timer stays behind. */
  bound<T>(work: Promise<T>, { clock, starting }: EngineContext, submission: Submission): Promise<T> {
    const refused = refusalOf(submission, clock)
    if (refused) {
      work.catch(() => {})
      return Promise.reject(refused.error)
    }
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        const refusal = refusalOf(submission, clock)
        if (refusal) end(() => reject(refusal.error))
      }
      const stopListening = onAbort(submission.options.signal, leave)
      const stopTimer = startTimer(clock, submission.deadlineAt - clock.now(), leave)
      const end = (tell: () => void): void => {
        this.#leave = undefined
        starting.delete(leave)
        stopListening()
        stopTimer()
        tell()
      }
      this.#leave = leave
      starting.add(leave)
      work.then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error)),
      )
    })
  }
}

/** Why nothing is written or sent: the caller has already left, or its time is already up. */
export function refusalOf(submission: Submission, clock: Clock): { readonly error: unknown } | undefined {
  const { signal } = submission.options
  if (signal?.aborted) return { error: abortReason(signal) }
  const call = unrecorded(submission)
  if (submission.closing.aborted) return { error: tellUnrecorded(call, CLOSED) }
  // What the caller named may be there from before: the journal is asked first, then it is cancelled there.
  const cancelled = submission.exit.taken && !submission.named
  if (cancelled || submission.forgotten()) return { error: tellUnrecorded(call, { reason: 'aborted' }) }
  return clock.now() < submission.deadlineAt ? undefined : { error: tellUnrecorded(call, { reason: 'deadline' }) }
}

/** What can be said of a call before the journal has spoken. */
export function unrecorded({ input, key, options, named }: Submission): Unrecorded {
  const { id, name } = options
  return { method: input.method, origin: input.origin, operation: { key, id, name }, named }
}

const CLOSED = { reason: 'aborted', because: 'this client was closed', code: 'HOLDFAST_CLOSED' } as const

/** For what concerns no operation in particular. */
export function closedError(): NotSentError {
  return new NotSentError('This client is closed', { code: 'HOLDFAST_CLOSED', reason: 'aborted', effect: 'none' })
}
