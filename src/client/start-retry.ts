import { answerOf } from './answer.ts'
import type { LiveOperation } from './engine/live-operation.ts'
import { journaled } from './engine/persistence.ts'
import type { RunTerms } from './engine/run-terms.ts'
import { cancelLive, retryStored } from './engine/stored-operations.ts'
import type { DurabilityLevel } from './journal/port.ts'
import type { HandleSource } from './operation-handle.ts'
import type { CallSettings } from './start-call.ts'

/** For whom an operation of the journal is taken up again. */
export interface RetryTerms extends Pick<RunTerms, 'giveUp' | 'credentials' | 'call'> {
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
  readonly preparedAt?: number | undefined
}

/** From a key or id to the operation that the journal has under it. */
export function startRetry(settings: CallSettings, keyOrId: string, how: RetryTerms): HandleSource {
  const { engine, closing } = settings
  let operation: LiveOperation | undefined
  let cancelled = false
  let accept!: (level: DurabilityLevel) => void
  let refuse!: (error: unknown) => void
  const accepted = new Promise<DurabilityLevel>((resolve, reject) => {
    accept = resolve
    refuse = reject
  })
  const joined = (found: LiveOperation): void => {
    operation = found
    accept(engine.keeper.level)
    if (cancelled) found.stop({ because: 'cancelled' })
  }
  const terms = runTerms(settings, how)
  const { preparedAt } = how
  const finish = retryStored(engine, keyOrId, { terms, caller: { signal: how.signal }, joined, closing, preparedAt })
  engine.background.add(finish)
  const answer = finish.then(answerOf)
  answer.catch(refuse)
  return {
    key: () => operation?.record.key ?? keyOrId,
    get id() {
      return operation?.record.id
    },
    accepted,
    answer,
    cancel: async () => {
      cancelled = true
      if (operation) await cancelLive(engine, operation)
      await answer.catch(() => {})
    },
  }
}

function runTerms({ engine, context }: CallSettings, { call, deadlineMs, credentials, giveUp }: RetryTerms): RunTerms {
  return {
    mode: 'call',
    call,
    deadlineAt: Math.min(engine.clock.now() + deadlineMs, context.deadlineAt ?? Number.POSITIVE_INFINITY),
    singleAttempt: context.doNotRetry === true ? 'outer-retries' : undefined,
    credentials,
    keyed: true,
    redirect: 'follow',
    giveUp,
    persistence: journaled(engine),
  }
}
