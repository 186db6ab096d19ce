import { HEADER } from '../../protocol/header-names.ts'
import type { Answer } from '../http/port.ts'
import type { GuardOptions } from './guard-options.ts'

/** Said of an answer that was given before. */
export function replayed(answer: Answer): Answer {
  return { ...answer, headers: [...answer.headers, [HEADER.idempotencyReplayed, 'true']] }
}

/** Every answer says for how long a key is remembered; a handler can't say it otherwise, nor that it is a replay. */
export function announced<A extends Answer>(guard: Pick<GuardOptions, 'retentionMs'>, answer: A): A {
  const seconds = String(Math.floor(guard.retentionMs / 1000))
  const others = answer.headers.filter(([name]) => name !== HEADER.idempotencyRetention)
  return { ...answer, headers: [...others, [HEADER.idempotencyRetention, seconds]] }
}
