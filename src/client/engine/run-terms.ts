import type { ResolvedCall } from '../policy/resolved-options.ts'
import type { CallCredentials } from '../request-input.ts'
import type { DropIn } from '../transport/port.ts'
import type { Persistence } from './persistence.ts'

/** What a run may do and for whom. */
export interface RunTerms {
  /** `call`: somebody waits for it. `resume`: nobody does, so it is carried on until the horizon. */
  readonly mode: 'call' | 'resume'
  readonly call: ResolvedCall
  readonly deadlineAt: number
  /** One attempt only: an outer layer retries, and inner ones are told so; or a second one could be a second effect. */
  readonly singleAttempt: 'outer-retries' | 'at-most-once' | undefined
  /** Undefined where who runs it is not who called. */
  readonly credentials: CallCredentials | undefined
  readonly keyed: boolean
  readonly redirect: 'follow' | 'error' | 'manual'
  /** A call of `client.fetch`, as it was made. Undefined on resume: the record has what is sent. */
  readonly dropIn?: DropIn | undefined
  readonly giveUp: 'fail' | 'keep'
  readonly persistence: Persistence
}
