import { headerValue } from '../../../protocol/headers.ts'
import type { SlotPlan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import type { Violation } from './oracle.ts'

const NAMES = ['authorization', 'cookie']
/** Made by the clients' `headers`, and by no call. */
const OF_CLIENTS = ['authorization', 'x-tenant']

/** A resume never sends an operation without the credentials that its call had: a server may run it under another account. */
export class CredentialsRule {
  readonly #had = new Map<string, readonly string[]>()

  readonly #origins = new Map<string, readonly string[]>()

  /** A client with this `baseUrl`, that trusts these. */
  started(process: SimulatedProcess, { origin, trusts }: Pick<SlotPlan, 'origin' | 'trusts'>): void {
    this.#origins.set(process.name, [origin, ...trusts])
  }

  left(
    process: SimulatedProcess,
    sent: Sent,
    call: { readonly asked: boolean; readonly life: number },
  ): Violation | undefined {
    return ofAnotherUser(sent) ?? this.#misdirected(process, sent) ?? this.#incomplete(sent, call)
  }

  /** What a client's `headers` make goes to its own API, and to those that it trusts. */
  #misdirected({ name }: SimulatedProcess, { number, url, headers }: Sent): Violation | undefined {
    const own = OF_CLIENTS.find((header) => headerValue(headers, header) !== undefined)
    const origins = this.#origins.get(name) ?? []
    if (own === undefined || origins.some((origin) => url.startsWith(`${origin}/`))) return undefined
    return ['P9', `request ${number} takes ${own} of a client of ${origins.join(', ')} to ${url}`]
  }

  #incomplete(sent: Sent, { asked, life }: { readonly asked: boolean; readonly life: number }): Violation | undefined {
    const has = NAMES.filter((name) => headerValue(sent.headers, name) !== undefined)
    // A key may have had another operation before, or the same one in an earlier life.
    const which = `${sent.key} ${sent.label} ${life}`
    const had = this.#had.get(which)
    if (asked || !had) {
      this.#had.set(which, [...new Set([...(had ?? []), ...has])])
      return undefined
    }
    const lacks = had.filter((name) => !has.includes(name))
    return lacks.length > 0
      ? ['P9', `request ${sent.number} leaves without ${lacks}, which an earlier one had`]
      : undefined
  }
}

/** What one user has asked for is done with the cookies of that user only. */
function ofAnotherUser({ number, headers, user }: Sent): Violation | undefined {
  const asked = headerValue(headers, 'x-user')
  return asked === user
    ? undefined
    : ['P9', `request ${number}, which ${asked} asked for, leaves while ${user} is logged in`]
}
