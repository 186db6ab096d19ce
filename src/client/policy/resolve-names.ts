import { oneOf, refuseOption } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { HEADER } from '../../protocol/header-names.ts'
import type { DoNotRetryOptions, KeyHeaderOptions } from '../options.ts'
import { checkHeaderName } from './check-headers.ts'
import type { ResolvedDoNotRetry, ResolvedOptions } from './resolved-options.ts'

/** Which headers are honoured and which are sent. By default a browser sends none: each needs the server's CORS permission. */
export function resolveDoNotRetry(
  options: DoNotRetryOptions | undefined,
  { sendHeaders }: { readonly sendHeaders: boolean },
): ResolvedDoNotRetry {
  const sent = (name: string): string | undefined => (sendHeaders ? name : undefined)
  const read = readOptions('doNotRetry', options, {
    stop: [[HEADER.doNotRetry], checkNames],
    shouldRetry: [['x-should-retry', 'stripe-should-retry'], checkNames],
    pushback: [['grpc-retry-pushback-ms'], checkNames],
    send: [sent(HEADER.doNotRetry), checkNameOrFalse],
    attempt: [sent(HEADER.holdfastAttempt), checkNameOrFalse],
    timeout: [sent(HEADER.requestTimeoutMs), checkNameOrFalse],
    firstSent: [sent(HEADER.repeatabilityFirstSent), checkNameOrFalse],
  })
  return Object.freeze(read)
}

function checkNames(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) return refuseOption(option, 'an array of header names', value)
  return Object.freeze(value.map((name) => checkHeaderName(option, name)))
}

function checkNameOrFalse(option: string, value: unknown): string | undefined {
  return value === false ? undefined : checkHeaderName(option, value)
}

export function resolveKeyHeader(options: KeyHeaderOptions | undefined): ResolvedOptions['keyHeader'] {
  const read = readOptions('keyHeader', options, {
    name: [HEADER.idempotencyKey, checkKeyName],
    format: ['bare', oneOf('bare', 'structured')],
  })
  return Object.freeze(read)
}

/** A key under one of these names would take the place of what the request, or its connection, needs. */
const TAKEN_NAMES =
  /^(accept|accept-.*|authorization|connection|content-.*|cookie|date|expect|host|if-.*|keep-alive|origin|proxy-.*|range|referer|sec-.*|te|traceparent|tracestate|trailer|transfer-encoding|upgrade|user-agent|via)$/

function checkKeyName(option: string, value: unknown): string {
  const name = checkHeaderName(option, value)
  return TAKEN_NAMES.test(name) ? refuseOption(option, 'a header that has no other meaning', value) : name
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
