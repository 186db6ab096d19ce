import { isThenable } from '../../foundation/thenable.ts'
import type { HoldfastEvent, Observer } from '../../observe/port.ts'
import { redactUrl } from '../../observe/redact.ts'
import { refOf } from '../operation/outcome.ts'
import type { OperationRecord, OperationRequest } from '../operation/record.ts'

/** What every event of an operation says of it. */
export function about(record: OperationRecord): { operation: ReturnType<typeof refOf>; method: string; url: string } {
  return { operation: refOf(record), method: record.request.method, url: shownUrl(record.request) }
}

/** The URL as it may be told: query parameters that carry credentials by name only. */
export function shownUrl({ url, withheld }: OperationRequest): string {
  const names = withheld.filter((name) => name.startsWith('?')).map((name) => `${name.slice(1)}=***`)
  if (names.length === 0) return redactUrl(url)
  return `${redactUrl(url)}${url.includes('?') ? '&' : '?'}${names.join('&')}`
}

/** Tells the observer. Whatever the observer does, throwing or rejecting, no call can notice. */
export class Emitter {
  readonly #observer: Observer | undefined

  constructor(observer: Observer | undefined) {
    this.#observer = observer
  }

  /** Is anybody listening? Saves making events that nobody reads. */
  get active(): boolean {
    return this.#observer !== undefined
  }

  tell(event: HoldfastEvent): void {
    try {
      const returned: unknown = this.#observer?.(event)
      if (isThenable(returned)) returned.then(undefined, () => {})
    } catch {
      // An observer that fails is the observer's problem.
    }
  }
}
