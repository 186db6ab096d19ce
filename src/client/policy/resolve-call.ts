import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkLabel,
  checkPositiveDuration,
  checkSignal,
  isObject,
  oneOf,
  refuseBoth,
  refuseOption,
  unknownName,
} from '../../configuration/option-checks.ts'
import { readFields } from '../../configuration/read-options.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { isValidKey } from '../../protocol/idempotency-key.ts'
import { isSafeMethod } from '../../protocol/methods.ts'
import type { CallOptions, ClientOptions, HonoursKeys } from '../options.ts'
import { checkHeaders } from './check-headers.ts'
import { checkJson } from './check-json.ts'
import { resolveRetry } from './resolve-retry.ts'
import type { CallOptionName, ResolvedCall } from './resolved-options.ts'

type SharedOptions = Pick<ClientOptions, 'retry' | 'deadline' | 'attemptTimeout' | 'onGiveUp' | 'accept'>

/** What each option of a call must be. Those that a client has too are read by `resolveShared`. */
const CHECKS: { readonly [Name in CallOptionName]: ((option: string, value: never) => unknown) | 'shared' } = {
  json: anything,
  body: anything,
  headers: checkHeaders,
  searchParams: checkSearchParams,
  signal: checkSignal,
  deadline: 'shared',
  attemptTimeout: 'shared',
  retry: 'shared',
  durable: checkBoolean,
  onGiveUp: 'shared',
  key: checkKey,
  id: checkLabel,
  name: checkLabel,
  metadata: checkJson,
  lane: checkLabel,
  laneOnFailure: oneOf('stop', 'continue'),
  accept: 'shared',
}
const CHECK_OF = new Map(Object.entries(CHECKS))

/** Bodies are looked at where they are read. */
function anything(): void {}

function checkSearchParams(option: string, value: unknown): void {
  if (typeof value !== 'string' && !isObject(value))
    refuseOption(option, 'a string, URLSearchParams or an object', value)
}

function checkKey(option: string, value: unknown): void {
  if (!isValidKey(value)) refuseOption(option, 'a string of 1 to 255 visible ASCII characters', value)
}

/** An object that was meant as the body, as some clients take it, has names of its own. */
function refuseName(name: string): never {
  throw new ConfigurationError(`${unknownName('', name, [...CHECK_OF.keys()])} To send an object, use \`json\`.`)
}

/**
 * Checks the options of a call and merges them over the client's. Runs on every request, so a call that
 * overrides nothing gets the client's own object back.
 */
export function resolveCall(call: CallOptions | undefined, client: ResolvedCall): ResolvedCall {
  if (call === undefined) return client
  const given: unknown = call
  if (!isObject(given)) {
    throw new ConfigurationError('The options of a call must be an object; a body goes into `json` or `body`.')
  }
  let overrides = false
  for (const name of Object.keys(given)) {
    const check = CHECK_OF.get(name) ?? refuseName(name)
    if (given[name] === undefined) continue
    if (check === 'shared') overrides = true
    else check(name, given[name] as never)
  }
  if (call.json !== undefined && call.body !== undefined && call.body !== null) {
    refuseBoth('json', 'body')
  }
  if (call.laneOnFailure !== undefined && call.lane === undefined) {
    throw new ConfigurationError('The option `laneOnFailure` says what happens to a lane: it needs the option `lane`.')
  }
  return overrides ? Object.freeze(resolveShared(call, client)) : client
}

/** Is the operation journaled? What only a record can hold is refused where there is none. */
export function resolveDurable(method: string, call: CallOptions, clientWide: boolean | undefined): boolean {
  const durable = call.durable ?? clientWide ?? !isSafeMethod(method)
  if (durable) return true
  const { id, name, metadata, lane, onGiveUp } = call
  if ((id ?? name ?? lane ?? metadata) === undefined && onGiveUp !== 'keep') return false
  const needed =
    (['id', 'name', 'metadata', 'lane'] as const).find((option) => call[option] !== undefined) ?? 'onGiveUp'
  throw new ConfigurationError(
    `The option \`${needed}\` needs a journaled operation, which this ${method} is not; \`durable: true\` makes it one.`,
  )
}

/** Does the server do the work of a key once? Undefined if the option says nothing. */
export function resolveHonoursKeys(
  honoursKeys: HonoursKeys | undefined,
  { url, method }: { readonly url: string; readonly method: string },
): boolean | undefined {
  if (typeof honoursKeys !== 'function') return honoursKeys
  return checkBoolean('honoursKeys(url, method)', honoursKeys(url, method))
}

/** The options that a client has for all its calls, and a call for itself. */
export function resolveShared(given: SharedOptions, fallback: ResolvedCall): ResolvedCall {
  const { deadline, attemptTimeout, ...rest } = readFields('', given, {
    retry: [fallback.retry, (_option, value: ClientOptions['retry']) => resolveRetry(value, fallback.retry)],
    deadline: [fallback.deadlineMs, checkDuration],
    attemptTimeout: [fallback.attemptTimeoutMs, checkPositiveDuration],
    onGiveUp: [fallback.onGiveUp, oneOf('fail', 'keep')],
    accept: [fallback.accept, checkFunction<ClientOptions['accept']>],
  })
  return { ...rest, deadlineMs: deadline, attemptTimeoutMs: attemptTimeout }
}
