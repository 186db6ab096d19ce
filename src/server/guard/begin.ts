import { ConfigurationError, StorageError } from '../../errors/classes.ts'
import { BodyTooLarge, checkRequest } from '../admission/check-request.ts'
import { type RefusalReason, refusal } from '../admission/refusal.ts'
import type { Entry, RecordedAnswer } from '../entry/entry.ts'
import type { EffectReturn } from '../entry/reply.ts'
import { refuseSealed } from '../entry/sealed-answer.ts'
import type { Answer, Inbound } from '../http/port.ts'
import { answerOfReturned, outgoingAnswer, replayedAnswer, uninvolvedAnswer } from './answer.ts'
import { type ClaimResult, claimKey, type KeyRequest, reclaimKey } from './claim-key.ts'
import type { IdempotencyContext } from './context.ts'
import { describeRequest, keyGivenBy, scopeOf } from './describe-request.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions, KeyFrom, Protection, ProtectOptions } from './guard-options.ts'
import { reconcileClaim } from './reconcile.ts'
import { refusalByQuota } from './scope-quota.ts'
import { Session } from './session.ts'

/** Answered without the handler, or the session of a handler that may run. */
export type Begun<Tx = unknown, Returned = EffectReturn> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'run'; readonly session: Session & { readonly context: IdempotencyContext<Tx, Returned> } }

/** What an adapter needs of a ledger. `Native` is the request that the ledger's `scope` and `authorize` get. */
export interface LedgerGuard<Tx = unknown, Returned = EffectReturn, Native = unknown> {
  /** Everything before the handler. A session is ended with `complete` or `fail`. */
  readonly begin: (inbound: Inbound<Native>) => Promise<Begun<Tx, Returned>>
  readonly maxRequestBytes: number
  readonly maxResponseBytes: number
}

/** The options that an adapter has beside those of the ledger, each with its check, which throws for a wrong value. */
export type AdapterOptions = { readonly [name: string]: (option: string, value: unknown) => unknown }

/** Checks the options of a handler, once for all of its requests. */
export type MakeGuard<Tx = unknown, Returned = EffectReturn, Native = unknown> = (
  options?: ProtectOptions<Native>,
  own?: AdapterOptions,
) => LedgerGuard<Tx, Returned, Native>

/** Registered, so that a ledger of one copy of the package works with an adapter of another. */
const GUARD: unique symbol = Symbol.for('holdfast.guard') as never

/** A ledger, as adapters take it. */
export interface GuardedLedger<Tx = unknown, Returned = EffectReturn, Native = unknown> {
  /** For adapters: see `guardOf` in `holdfast/server/adapter`. */
  readonly [GUARD]: MakeGuard<Tx, Returned, Native>
}

/**
 * For adapters: the part of a ledger that serves the requests of one handler. To be called when the handler is set up,
 * so that a wrong option is a ConfigurationError before the first request. `own` are the adapter's own options, which
 * stand in the same object.
 */
export function guardOf<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  options?: ProtectOptions<Native>,
  own?: AdapterOptions,
): LedgerGuard<Tx, Returned, Native> {
  const makeGuard = (ledger as Partial<GuardedLedger<Tx, Returned, Native>> | undefined)?.[GUARD]
  if (!makeGuard) {
    throw new ConfigurationError('A ledger is needed: what createLedger({ store, scope }) returns, not its store')
  }
  return makeGuard(options, own)
}

export function guarded(makeGuard: MakeGuard): GuardedLedger {
  return { [GUARD]: makeGuard }
}

/** Everything before the handler: authorization, the key, the claim. */
export async function begin(ledger: GuardOptions, inbound: Inbound, protection: Protection): Promise<Begun> {
  const guard = servingGuard(ledger, inbound)
  const screened = await screen(guard, inbound, protection.keyFrom)
  if (screened.kind === 'answered') return screened
  if (screened.kind === 'pass') return { kind: 'run', session: new Session(guard, null) }
  guard.reaperWatch.look(guard)
  const { request } = screened
  const refused = guard.quota && (await refusalByQuota(guard, request))
  if (refused) return refuseRequest(guard, request, refused)
  try {
    return await act(guard, { request, protection, result: await claimKey(guard, request, protection) })
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    return refuseRequest(guard, request, 'unavailable')
  }
}

/** With the request, where the API words its refusals itself. */
export function servingGuard(ledger: GuardOptions, inbound: Inbound): GuardOptions {
  return ledger.refusal ? { ...ledger, native: inbound.native } : ledger
}

type Answered = Extract<Begun, { kind: 'answered' }>

export type Screened = Answered | { readonly kind: 'pass' } | { readonly kind: 'keyed'; readonly request: KeyRequest }

/** Everything before the store is asked. `pass`: the request needs no key. */
export async function screen(
  guard: GuardOptions,
  inbound: Inbound,
  keyFrom: KeyFrom<unknown> | undefined,
): Promise<Screened> {
  const receivedAt = guard.clock.now()
  const forbidden = await guard.authorize?.(inbound.native)
  if (forbidden) {
    return { kind: 'answered', answer: uninvolvedAnswer(await answerOfReturned(forbidden, 'authorize()')) }
  }
  const { method, path, headers } = inbound
  const given = keyFrom && guard.methods.has(method) ? await keyGivenBy(guard, keyFrom, inbound) : undefined
  const check = checkRequest({ method, headers, given }, guard, guard.clock.now())
  if (check.kind === 'pass') return check
  if (check.kind === 'refuse') return refuseRequest(guard, { method, path, receivedAt }, check.reason)
  const named = { scope: await scopeOf(guard, inbound), key: check.key }
  try {
    return { kind: 'keyed', request: { ...(await describeRequest(guard, inbound, named)), receivedAt } }
  } catch (error) {
    if (error instanceof BodyTooLarge) {
      return refuseRequest(guard, { method, path, key: check.key, receivedAt }, 'body-too-large')
    }
    // A caller that leaves while it sends its body is no failure of the ledger.
    if (error instanceof ConfigurationError) emit(guard, { type: 'ledger.failed', error })
    throw error
  }
}

interface Asked {
  readonly request: KeyRequest
  readonly protection: Protection
  readonly result: ClaimResult
}

async function act(guard: GuardOptions, { request, protection, result }: Asked): Promise<Begun> {
  if (result.kind === 'refused') return refuseRequest(guard, request, result.reason)
  if (result.kind === 'replay') return replayEntry(guard, request, result.entry)
  const { claim, heldFrom, from } = result
  if (!from) guard.quota?.added(claim.scope)
  emitForEntry(guard, request, { type: 'entry.claimed', attempt: claim.attempt, takenOver: from !== undefined })
  // An entry that was claimed as external stays so, whatever the handler is declared as by now.
  const external = protection.external || from?.external === true
  const claimed = { request, protection: { ...protection, external }, claim, heldFrom }
  if (result.next === 'run' || from === undefined) return { kind: 'run', session: new Session(guard, claimed) }
  const outcome = await reconcileClaim(guard, claimed, from)
  if (outcome === 'rerun') {
    const fresh = await reclaimKey(guard, claimed)
    return fresh
      ? { kind: 'run', session: new Session(guard, { ...claimed, ...fresh }) }
      : refuseRequest(guard, request, 'in-flight')
  }
  if (outcome.kind === 'recorded') return { kind: 'answered', answer: replayedAnswer(guard, outcome.answer, request) }
  return refuseRequest(guard, request, outcome.kind === 'lost' ? 'in-flight' : 'outcome-unknown')
}

/** A request, with its scope and key as far as they are known by then. */
type RefusedRequest = Pick<KeyRequest, 'method' | 'path' | 'receivedAt'> & Partial<Pick<KeyRequest, 'scope' | 'key'>>

export function refuseRequest(
  guard: GuardOptions,
  { method, path, scope, key, receivedAt }: RefusedRequest,
  reason: RefusalReason,
): Answered {
  emit(guard, { type: 'request.refused', reason, method, path, scope, key }, receivedAt)
  return { kind: 'answered', answer: outgoingAnswer(guard, refusal(reason)) }
}

/** An entry whose answer can't be read is refused: nothing is run because of a damaged store. */
export function replayEntry(guard: GuardOptions, request: KeyRequest, entry: Entry): Answered {
  try {
    const recorded = readableAnswer(entry)
    emitForEntry(guard, request, { type: 'entry.replayed', status: recorded.status })
    return { kind: 'answered', answer: replayedAnswer(guard, recorded, request) }
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    return refuseRequest(guard, request, 'unavailable')
  }
}

function readableAnswer({ answer }: Entry): RecordedAnswer {
  if (!answer) throw new StorageError('An entry of the ledger is done but has no answer', { effect: 'unknown' })
  refuseSealed(answer)
  return answer
}
