import { ConfigurationError } from '../../errors/classes.ts'
import { isValidKey } from '../../protocol/idempotency-key.ts'
import type { CallOptions, HeadersInput } from '../options.ts'
import { checkHeaders } from './check-headers.ts'
import { checkJson } from './check-json.ts'
import {
  checkDuration,
  checkFunction,
  checkLabel,
  checkOneOf,
  checkPositiveDuration,
  isObject,
  refuse,
  refuseUnknown,
} from './option-checks.ts'
import { resolveRetry } from './resolve-retry.ts'
import type { CallOptionName, ResolvedCall } from './resolved-options.ts'

/** What each option of a call must be. Those that `resolveCall` turns into another form are checked there. */
const CHECKS: { readonly [Name in CallOptionName]: (value: unknown) => void } = {
  json: checkedElsewhere,
  body: checkedElsewhere,
  headers: (value) => checkHeaders('headers', value as HeadersInput),
  searchParams: (value) => {
    if (typeof value !== 'string' && !isObject(value))
      refuse('searchParams', 'a string, URLSearchParams or an object', value)
  },
  signal: (value) => {
    const isSignal =
      isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function'
    if (!isSignal) refuse('signal', 'an AbortSignal', value)
  },
  deadline: checkedElsewhere,
  attemptTimeout: checkedElsewhere,
  retry: checkedElsewhere,
  durable: (value) => {
    if (typeof value !== 'boolean') refuse('durable', 'true or false', value)
  },
  onGiveUp: checkedElsewhere,
  key: (value) => {
    if (!isValidKey(value)) refuse('key', 'a string of 1 to 255 visible ASCII characters', value)
  },
  id: (value) => checkLabel('id', value),
  name: (value) => checkLabel('name', value),
  metadata: (value) => checkJson('metadata', value),
  accept: checkedElsewhere,
}
const CHECK_OF = new Map<string, (value: unknown) => void>(Object.entries(CHECKS))

function checkedElsewhere(): void {}

/**
 * Checks the options of a call and merges them over the client's. Runs on every request, so a call that
 * overrides nothing gets the client's own object back.
 */
export function resolveCall(call: CallOptions | undefined, client: ResolvedCall): ResolvedCall {
  if (call === undefined) return client
  checkCall(call)
  const { deadline, attemptTimeout, retry, onGiveUp, accept } = call
  const overrides =
    deadline !== undefined ||
    attemptTimeout !== undefined ||
    retry !== undefined ||
    onGiveUp !== undefined ||
    accept !== undefined
  if (!overrides) return client
  return Object.freeze({
    retry: resolveRetry(retry, client.retry),
    deadlineMs: deadline === undefined ? client.deadlineMs : checkDuration('deadline', deadline),
    attemptTimeoutMs:
      attemptTimeout === undefined ? client.attemptTimeoutMs : checkPositiveDuration('attemptTimeout', attemptTimeout),
    onGiveUp: onGiveUp === undefined ? client.onGiveUp : checkOneOf('onGiveUp', onGiveUp, ['fail', 'keep']),
    accept: accept === undefined ? client.accept : checkFunction('accept', accept),
  })
}

function checkCall(call: CallOptions): void {
  const given: unknown = call
  if (!isObject(given)) throw new ConfigurationError('The options of a call must be an object.')
  for (const name of Object.keys(given)) {
    const check = CHECK_OF.get(name) ?? refuseUnknown('', name, [...CHECK_OF.keys()])
    if (given[name] !== undefined) check(given[name])
  }
  if (call.json !== undefined && call.body !== undefined && call.body !== null) {
    throw new ConfigurationError('The options `json` and `body` exclude each other: a call has one body.')
  }
}
