import { headerValue } from '../../../protocol/headers.ts'
import type { Sent } from '../wire.ts'
import type { Violation } from './oracle.ts'

const NAMES = ['authorization', 'cookie']

/** A resume never sends an operation without the credentials that its call had: a server may run it under another account. */
export class CredentialsRule {
  readonly #had = new Map<string, readonly string[]>()

  left(sent: Sent, { asked, life }: { readonly asked: boolean; readonly life: number }): Violation | undefined {
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
