import { ConfigurationError } from '../../errors/classes.ts'
import { HEADER } from '../../protocol/header-names.ts'
import type { DoNotRetryOptions, KeyHeaderOptions } from '../options.ts'
import { checkHeaderName } from './check-headers.ts'
import { checkObject, checkOneOf, refuse } from './option-checks.ts'
import type { ResolvedDoNotRetry, ResolvedOptions } from './resolved-options.ts'

type ListName = 'stop' | 'shouldRetry' | 'pushback'
type SentName = 'send' | 'attempt' | 'timeout' | 'firstSent'

const HONOURED: { readonly [Name in ListName]: readonly string[] } = {
  stop: [HEADER.doNotRetry],
  shouldRetry: ['x-should-retry', 'stripe-should-retry'],
  pushback: ['grpc-retry-pushback-ms'],
}
const SENT: { readonly [Name in SentName]: string } = {
  send: HEADER.doNotRetry,
  attempt: HEADER.holdfastAttempt,
  timeout: HEADER.requestTimeoutMs,
  firstSent: HEADER.repeatabilityFirstSent,
}
const NAMES: readonly (keyof DoNotRetryOptions)[] = [
  'stop',
  'shouldRetry',
  'pushback',
  'send',
  'attempt',
  'timeout',
  'firstSent',
]

/** Which headers are honoured and which are sent. By default a browser sends none: each needs a server's CORS leave. */
export function resolveDoNotRetry(
  options: DoNotRetryOptions | undefined,
  platform: { readonly sendHeaders: boolean },
): ResolvedDoNotRetry {
  const given: DoNotRetryOptions = options === undefined ? {} : checkObject('doNotRetry', options, NAMES)
  const list = (name: ListName): readonly string[] =>
    given[name] === undefined ? HONOURED[name] : checkNames(`doNotRetry.${name}`, given[name])
  const sent = (name: SentName): string | undefined => {
    const value = given[name]
    if (value === undefined) return platform.sendHeaders ? SENT[name] : undefined
    return value === false ? undefined : checkHeaderName(`doNotRetry.${name}`, value)
  }
  return Object.freeze({
    stop: list('stop'),
    shouldRetry: list('shouldRetry'),
    pushback: list('pushback'),
    send: sent('send'),
    attempt: sent('attempt'),
    timeout: sent('timeout'),
    firstSent: sent('firstSent'),
  })
}

function checkNames(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) return refuse(option, 'an array of header names', value)
  return Object.freeze(value.map((name) => checkHeaderName(option, name)))
}

export function resolveKeyHeader(options: KeyHeaderOptions | undefined): ResolvedOptions['keyHeader'] {
  const { name, format } = options === undefined ? {} : checkObject('keyHeader', options, ['name', 'format'])
  return Object.freeze({
    name: name === undefined ? HEADER.idempotencyKey : checkHeaderName('keyHeader.name', name),
    format: format === undefined ? 'bare' : checkOneOf('keyHeader.format', format, ['bare', 'structured']),
  })
}

/** Two facts under one name would overwrite each other on the wire. */
export function checkDistinct(keyHeader: ResolvedOptions['keyHeader'], names: ResolvedDoNotRetry): void {
  const seen = new Map([[keyHeader.name, 'keyHeader.name']])
  for (const option of ['send', 'attempt', 'timeout', 'firstSent'] as const) {
    const name = names[option]
    if (name === undefined) continue
    const other = seen.get(name)
    if (other !== undefined) {
      throw new ConfigurationError(
        `The options \`${other}\` and \`doNotRetry.${option}\` name the same header, \`${name}\`.`,
      )
    }
    seen.set(name, `doNotRetry.${option}`)
  }
}
