import { ConfigurationError, StorageError } from '../../errors/classes.ts'
import { fingerprintInput } from '../../protocol/fingerprint.ts'
import { headerValue } from '../../protocol/headers.ts'
import { BodyTooLarge, checkBodySize } from '../admission/body-too-large.ts'
import { type RefusalReason, refusal } from '../admission/refusal.ts'
import { screen } from '../admission/screen.ts'
import type { Entry } from '../entry/entry.ts'
import { versionedFingerprint } from '../entry/fingerprint-version.ts'
import type { EffectReturn } from '../entry/reply.ts'
import type { Answer, Inbound } from '../http/port.ts'
import { announced, replayed } from './announce.ts'
import { type Claimed, claimAgain, claimKey, type KeyRequest } from './claim-key.ts'
import type { IdempotencyContext } from './context.ts'
import type { GuardOptions, Protection } from './guard-options.ts'
import { reconcileClaim } from './reconcile-claim.ts'
import { plainAnswer } from './recorded-answer.ts'
import { Session } from './session.ts'
import { tell, tellOfEntry } from './tell.ts'

/** Answered without the handler, or the handler's turn. */
export type Begun<Tx = unknown, Returned = EffectReturn> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'run'; readonly session: Session & { readonly context: IdempotencyContext<Tx, Returned> } }

/** Everything that comes before the handler: who asks, which key, has it been done? */
export async function begin(ledger: GuardOptions, inbound: Inbound, protection: Protection): Promise<Begun> {
  const guard = ledger.refusal ? { ...ledger, native: inbound.native } : ledger
  const forbidden = await guard.authorize?.(inbound.native)
  if (forbidden) return { kind: 'answered', answer: announced(guard, await plainAnswer(forbidden, 'authorize()')) }
  const screening = screen(inbound, guard, guard.clock.now())
  if (screening.kind === 'pass') return { kind: 'run', session: new Session(guard, null) }
  if (screening.kind === 'refuse') return refuse(guard, inbound, screening.reason)
  let request: KeyRequest
  try {
    request = await describeRequest(guard, inbound, screening.key)
  } catch (error) {
    if (error instanceof BodyTooLarge) return refuse(guard, { ...inbound, key: screening.key }, 'body-too-large')
    tell(guard, { type: 'ledger.failed', error })
    throw error
  }
  try {
    return await go(guard, { request, protection, claimed: await claimKey(guard, request, protection) })
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
    return refuse(guard, request, 'unavailable')
  }
}

interface Standing {
  readonly request: KeyRequest
  readonly protection: Protection
  readonly claimed: Claimed
}

async function go(guard: GuardOptions, standing: Standing): Promise<Begun> {
  const { request, protection, claimed } = standing
  if (claimed.kind === 'refused') return refuse(guard, request, claimed.reason)
  if (claimed.kind === 'replay') return replay(guard, request, claimed.entry)
  const { claim, from } = claimed
  tellOfEntry(guard, request, { type: 'entry.claimed', attempt: claim.attempt, takenOver: from !== undefined })
  // What was begun as external stays so, whatever the handler is declared as by now.
  const external = protection.external || from?.external === true
  const held = { request, protection: { ...protection, external }, claim }
  if (claimed.next === 'run' || from === undefined) return { kind: 'run', session: new Session(guard, held) }
  const reconciled = await reconcileClaim(guard, held, from)
  if (reconciled === 'rerun') {
    const fresh = await claimAgain(guard, held)
    return fresh
      ? { kind: 'run', session: new Session(guard, { ...held, claim: fresh }) }
      : refuse(guard, request, 'in-flight')
  }
  if (reconciled === 'unknown') return refuse(guard, request, 'outcome-unknown')
  if (reconciled === 'lost') return refuse(guard, request, 'in-flight')
  return { kind: 'answered', answer: replayed(guard, reconciled) }
}

async function describeRequest(guard: GuardOptions, inbound: Inbound, key: string): Promise<KeyRequest> {
  const { method, path, query, headers, body } = inbound
  const scope = await guard.scope(inbound.native)
  if (typeof scope !== 'string' || scope === '') {
    throw new ConfigurationError(
      "The option `scope` must give a non-empty string for each request, such as the account's id; say 'public' where " +
        'all callers share their keys on purpose',
    )
  }
  const given = await body()
  checkBodySize(given, guard.maxRequestBytes)
  const { texts, bytes } = fingerprintInput({
    scope,
    method,
    path,
    query,
    contentType: headerValue(headers, 'content-type'),
    contentEncoding: headerValue(headers, 'content-encoding'),
    body: given,
  })
  return { scope, key, method, path, fingerprint: versionedFingerprint(guard.digest(texts, bytes)) }
}

/** A request, with its scope and key as far as they are known by then. */
type Asked = Pick<Inbound, 'method' | 'path'> & Partial<Pick<KeyRequest, 'scope' | 'key'>>

function refuse(guard: GuardOptions, { method, path, scope, key }: Asked, reason: RefusalReason): Begun {
  tell(guard, { type: 'request.refused', reason, method, path, scope, key })
  return { kind: 'answered', answer: announced(guard, refusal(reason)) }
}

function replay(guard: GuardOptions, request: KeyRequest, entry: Entry): Begun {
  // An entry that is done has an answer; a store that says otherwise is damaged, and nothing is run on its word.
  if (!entry.answer) throw new StorageError('An entry of the ledger is done but has no answer', { effect: 'unknown' })
  tellOfEntry(guard, request, { type: 'entry.replayed', status: entry.answer.status })
  return { kind: 'answered', answer: replayed(guard, entry.answer) }
}
