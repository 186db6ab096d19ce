import type { CallOptions } from '../../options.ts'
import type { ResolvedCall } from '../../policy/resolved-options.ts'
import type { BodySnapshot } from '../../request-body.ts'
import type { CallCredentials, RequestInput } from '../../request-input.ts'
import type { DropIn } from '../../transport/port.ts'
import type { Engine } from '../engine.ts'

/** One call, from the verb to the wire. A resume makes one as well, in the place of a caller. */
export interface Call {
  /** `resume`: no caller waits for it, so the operation is carried on until its horizon. */
  readonly mode: 'call' | 'resume'
  readonly limits: ResolvedCall
  readonly deadlineAt: number
  /** One attempt only: an outer layer retries, and inner ones are told so; or a second one could be a second effect. */
  readonly singleAttempt: 'outer-retries' | 'at-most-once' | undefined
  /** Undefined on resume: credentials are never persisted. */
  readonly credentials: CallCredentials | undefined
  readonly keyed: boolean
  /** Is it written to the journal? The same loop runs with a record and without. */
  readonly durable: boolean
  readonly redirect: 'follow' | 'error' | 'manual'
  /** A call of `client.fetch`, as it was made. Undefined on resume: the record has what is sent. */
  readonly dropIn: DropIn | undefined
  readonly onGiveUp: 'fail' | 'keep'
}

/** What a new operation is made of. */
export interface NewOperation {
  readonly input: RequestInput
  readonly body: BodySnapshot | Promise<BodySnapshot>
  readonly options: Pick<CallOptions, 'id' | 'name' | 'metadata'>
  readonly key: string
  /** Another key, unless the caller gave one. */
  readonly newKey: () => string
  readonly honoursKeys: boolean
}

/** An operation of the journal, by its key or id. */
export interface StoredOperation {
  readonly keyOrId: string
  /** When it was prepared for a transaction of the caller's, with a key that is used nowhere else. */
  readonly preparedAt?: number | undefined
}

/** A resume's call for an operation that it has claimed. */
export function resumeCall({ options, clock }: Pick<Engine, 'options' | 'clock'>): Call {
  return {
    mode: 'resume',
    limits: options,
    deadlineAt: clock.now() + options.deadlineMs,
    singleAttempt: undefined,
    credentials: undefined,
    keyed: true,
    durable: true,
    redirect: 'follow',
    dropIn: undefined,
    onGiveUp: 'keep',
  }
}
