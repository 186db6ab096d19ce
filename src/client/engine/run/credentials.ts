import { isCredentialField } from '../../../observe/redact.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { OperationRecord, OperationRequest } from '../../operation/record.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { CallCredentials } from '../../request-input.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { saveRecord } from './kept-record.ts'
import type { LiveOperation } from './live-operation.ts'

/*
 * Credentials are never persisted, but their names are: an attempt that would go out without one of them is not
 * sent. A server that admits anonymous callers would do the work for another one, under another scope.
 */

/** The client's headers go only to its own origin and to those it was told to trust. */
export function trustsOrigin({ baseUrl, trustedOrigins }: ResolvedOptions, origin: string): boolean {
  return origin === baseUrl?.origin || trustedOrigins.has(origin)
}

/**
 * What the operation's call had and this attempt has not: header names, and query parameters as `?name`. Where a caller
 * asks for it anew, what that call brings is what the caller means.
 */
export function missingCredentials(
  { withheld }: OperationRequest,
  { own, call }: { readonly own: HeaderList; readonly call: CallCredentials | undefined },
): readonly string[] {
  return call || withheld.length === 0 ? [] : withheld.filter((name) => !own.some(([made]) => made === name))
}

/** Is it certain, before any header is made, that a resume by this client would lack credentials? */
export function lacksCredentials(options: ResolvedOptions, { request }: OperationRecord): boolean {
  if (request.withheld.length === 0) return false
  const { headers = [] } = options
  const applied = trustsOrigin(options, request.origin) ? headers : []
  // What a function makes is known when it is called; but it makes no query parameter.
  if (typeof applied === 'function') return request.withheld.some((name) => name.startsWith('?'))
  return missingCredentials(request, { own: applied, call: undefined }).length > 0
}

const NONE: readonly string[] = []

/** Which credentials the client's `headers` make for each origin, as far as it is known. */
export class LearnedCredentials {
  readonly #options: ResolvedOptions
  readonly #byOrigin = new Map<string, readonly string[]>()

  constructor(options: ResolvedOptions) {
    this.#options = options
  }

  /** For the record of a new operation. What a function makes is known from its earlier calls, if there were any. */
  namesFor(origin: string): readonly string[] {
    const { headers } = this.#options
    if (headers === undefined) return NONE
    if (typeof headers === 'function') return this.#byOrigin.get(origin) ?? NONE
    return trustsOrigin(this.#options, origin) ? namesOf(headers) : NONE
  }

  /**
   * The names of what is about to be sent are on record before, where they were not known at acceptance: the client's own,
   * and those of a call that goes on with what another one began. False: the lease is lost.
   */
  note(
    engine: Pick<Engine, 'keeper'>,
    operation: LiveOperation,
    { own, call }: { readonly own: HeaderList; readonly call: Call },
  ): boolean | Promise<boolean> {
    const { request } = operation.record
    const made = namesOf(own)
    const given = call.credentials?.names ?? NONE
    const isKnown = (name: string): boolean => request.withheld.includes(name)
    if (made.every(isKnown) && given.every(isKnown)) return true
    const { origin } = request
    this.#byOrigin.set(origin, [...new Set([...(this.#byOrigin.get(origin) ?? NONE), ...made])])
    const withheld = [...new Set([...request.withheld, ...made, ...given])]
    operation.record = { ...operation.record, request: { ...request, withheld } }
    return saveRecord(engine, operation, call)
  }
}

function namesOf(headers: HeaderList): readonly string[] {
  return headers.length === 0 ? NONE : headers.filter(isCredentialField).map(([name]) => name)
}
