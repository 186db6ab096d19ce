import { ConfigurationError } from '../../errors/classes.ts'
import { pageOf, type Refusal, reworded } from '../admission/refusal.ts'
import { isReply, type Reply } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'
import type { GuardOptions } from './guard-options.ts'
import { tell } from './tell.ts'

export type Shaping = Pick<GuardOptions, 'refusal' | 'native' | 'documentation' | 'observe' | 'clock'>

/** A refusal with a link to its page, in the words of the API where `refusal` has some. It can't break a request. */
export function shapeRefusal(guard: Shaping, refused: Refusal): Answer {
  const linked = { ...refused, headers: [...refused.headers, ...linkTo(guard, refused)] }
  try {
    const given = wordsFor(guard, refused)
    if (given) return reworded(linked, given)
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
  }
  return { status: linked.status, headers: linked.headers, body: linked.body }
}

function wordsFor({ refusal, native }: Shaping, { problem }: Refusal): Reply | undefined {
  const given: unknown = refusal?.(problem, native)
  if (given === undefined || isReply(given)) return given
  throw new ConfigurationError('The option `refusal` must return json(value, init), reply(body, init) or undefined')
}

function linkTo({ documentation }: Shaping, { problem }: Refusal): Answer['headers'] {
  return documentation === undefined ? [] : [['link', `<${pageOf(problem, documentation)}>; rel="describedby"`]]
}
