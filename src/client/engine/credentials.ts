import { isCredentialField } from '../../observe/redact.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { OperationRecord, OperationRequest } from '../operation/record.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { CallCredentials } from '../request-input.ts'
import { trustsOrigin } from './attempt-headers.ts'
import type { LiveOperation } from './live-operation.ts'
import type { Persistence } from './persistence.ts'

/*
 * Credentials are never written down, but their names are: an attempt that would go out without one of them is not
 * sent. A server that admits anonymous callers would do the work for another one, under another scope.
 */

/** What an attempt has of credentials: what the client's `headers` made, and what the call itself brought. */
export interface CredentialsAtHand {
  readonly own: HeaderList
  readonly call: CallCredentials | undefined
}

/**
 * What the operation's call had and this attempt has not: header names, and query parameters as `?name`. Where a caller
 * asks for it anew, what that call brings is what the caller means.
 */
export function missingCredentials({ withheld }: OperationRequest, { own, call }: CredentialsAtHand): string[] {
  return call ? [] : withheld.filter((name) => !own.some(([made]) => made === name))
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

/** Which credentials the client's `headers` make for each origin, as far as it is known. */
export class ClientCredentials {
  readonly #options: ResolvedOptions
  readonly #learned = new Map<string, ReadonlySet<string>>()

  constructor(options: ResolvedOptions) {
    this.#options = options
  }

  /** For the record of a new operation. What a function makes is known from its earlier calls, if there were any. */
  namesFor(origin: string): Iterable<string> {
    const { headers = [] } = this.#options
    if (typeof headers === 'function') return this.#learned.get(origin) ?? []
    return trustsOrigin(this.#options, origin) ? namesOf(headers) : []
  }

  /**
   * The names of what is about to be sent are on record before, where they were not known at acceptance: the client's own,
   * and those of a call that goes on with what another one began. False: the lease is lost.
   */
  note(
    operation: LiveOperation,
    { own, call, persistence }: CredentialsAtHand & { readonly persistence: Persistence },
  ): boolean | Promise<boolean> {
    const { request } = operation.record
    const made = namesOf(own)
    const isKnown = (name: string): boolean => request.withheld.includes(name)
    if (made.every(isKnown) && (!call || call.names.every(isKnown))) return true
    const { origin } = request
    this.#learned.set(origin, new Set([...(this.#learned.get(origin) ?? []), ...made]))
    const withheld = [...new Set([...request.withheld, ...made, ...(call?.names ?? [])])]
    operation.record = { ...operation.record, request: { ...request, withheld } }
    return persistence.save(operation)
  }
}

function namesOf(headers: HeaderList): string[] {
  return headers.filter(isCredentialField).map(([name]) => name)
}
