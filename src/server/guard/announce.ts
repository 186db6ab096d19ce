import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isRefusal } from '../admission/refusal.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { Answer } from '../http/port.ts'
import type { GuardOptions } from './guard-options.ts'
import { type Shaping, shapeRefusal } from './shape-refusal.ts'

type Announcing = Pick<GuardOptions, 'retentionMs'>

/** Only the ledger says these; what a handler says of them is not passed on. */
const OURS: readonly string[] = [HEADER.idempotencyRetention, HEADER.idempotencyReplayed, HEADER.idempotencyBody]

/** Every answer says for how long a key is remembered; a refusal says it in the words of the API. */
export function announced(guard: Announcing & Shaping, answer: Answer): Answer {
  const outgoing = isRefusal(answer) ? shapeRefusal(guard, answer) : answer
  return { ...outgoing, headers: [...theirs(outgoing.headers), retention(guard)] }
}

/** They describe a body that is not there. */
const OF_THE_BODY: readonly string[] = ['content-type', 'content-encoding', 'content-range', 'digest', 'content-digest']

/** What was answered before, marked as such. Where its body was too large to keep, that is said too. */
export function replayed(guard: Announcing, { status, headers, body, bodyOmitted }: RecordedAnswer): Answer {
  const marks: HeaderList = [retention(guard), [HEADER.idempotencyReplayed, 'true']]
  const kept = theirs(headers)
  if (!bodyOmitted) return { status, headers: [...kept, ...marks], body }
  const others = kept.filter(([name]) => !OF_THE_BODY.includes(name))
  return { status, headers: [...others, ...marks, [HEADER.idempotencyBody, 'omitted']], body: null }
}

function theirs(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !OURS.includes(name))
}

function retention({ retentionMs }: Announcing): readonly [string, string] {
  return [HEADER.idempotencyRetention, String(Math.floor(retentionMs / 1000))]
}
