import { systemClock } from '../../foundation/clock.ts'
import { newOperationKey } from '../../foundation/identity.ts'
import { formatKey } from '../../protocol/idempotency-key.ts'
import { exchange, isAnswer, type ProbeRequest, type Seen, sendAndHangUp } from './exchange.ts'
import { isSuccess } from './same-effect.ts'

/** What a probe sends, and how. */
export interface ProbePlan {
  readonly request: ProbeRequest
  /** Of the same length of life as the first: what a different request would have. */
  readonly otherBody: Uint8Array
  readonly keyHeader: string
  readonly keyFormat: 'bare' | 'structured'
  /** How many at once. */
  readonly parallel: number
  /** Before the first key is repeated for the last time. */
  readonly waitMs: number
  readonly withoutKey: boolean
}

/** Everything that a probe has seen, in the order in which it was sent. */
export interface Observations {
  readonly first: Seen
  /** The same key and body again. */
  readonly repeat: Seen
  /** The same body under another key. */
  readonly control: Seen
  /** The first key with another body. */
  readonly otherBody: Seen
  readonly atOnce: readonly Seen[]
  /** The key of those once more, when they had ended. */
  readonly afterwards: Seen
  /** Two retries, one after the other, of a request whose answer was thrown away. */
  readonly lost: readonly [retry: Seen, again: Seen]
  /** The first key again, at the end. */
  readonly later: Seen
  readonly keyless: Seen | undefined
}

/** `first` alone where it did not succeed: nothing can be learned from repeating a failure. */
export type ProbeRun = { readonly first: Seen } | Observations

/** How often a request that is refused as being in flight is tried again, and how long the pause is. */
const MOST_TRIES = 20
const PAUSE_MS = 250
/** Before it hangs up: the whole request has left by then. */
const LONGEST_PATIENCE_MS = 25

export async function observeServer(plan: ProbePlan, onStep: (text: string) => void): Promise<ProbeRun> {
  const [one, two, three, four] = [newOperationKey(), newOperationKey(), newOperationKey(), newOperationKey()]
  onStep('a first request')
  const first = await send(plan, one)
  if (!isAnswer(first) || !isSuccess(first)) return { first }
  onStep('the same key again')
  const repeat = await send(plan, one)
  const control = await send(plan, two)
  onStep('the same key with another body')
  const otherBody = await send(plan, one, plan.otherBody)
  onStep(`${plan.parallel} at once`)
  const atOnce = await Promise.all(Array.from({ length: plan.parallel }, () => send(plan, three)))
  const afterwards = await sendUntilSettled(plan, three)
  onStep('a retry after a lost answer')
  await sendAndHangUp(keyed(plan, four), halfTimeOf(first, control))
  const lost = [await sendUntilSettled(plan, four), await send(plan, four)] as const
  onStep('the first key once more')
  await systemClock.sleep(plan.waitMs)
  const later = await send(plan, one)
  const keyless = plan.withoutKey ? await exchange(plan.request, '') : undefined
  return { first, repeat, control, otherBody, atOnce, afterwards, lost, later, keyless }
}

/** In the middle of the work, as far as the time that it took before tells. The first request may have been slow to start. */
function halfTimeOf(...seen: readonly Seen[]): number {
  return Math.min(...seen.filter(isAnswer).map(({ durationMs }) => durationMs / 2), LONGEST_PATIENCE_MS)
}

function send(plan: ProbePlan, key: string, body = plan.request.body): Promise<Seen> {
  return exchange({ ...keyed(plan, key), body }, key)
}

function keyed({ request, keyHeader, keyFormat }: ProbePlan, key: string): ProbeRequest {
  return { ...request, headers: [...request.headers, [keyHeader.toLowerCase(), formatKey(key, keyFormat)]] }
}

/** 409: the first one is still being worked on. */
async function sendUntilSettled(plan: ProbePlan, key: string): Promise<Seen> {
  for (let tries = 1; ; tries++) {
    const seen = await send(plan, key)
    if (!isAnswer(seen) || seen.status !== 409 || tries === MOST_TRIES) return seen
    await systemClock.sleep(PAUSE_MS)
  }
}
