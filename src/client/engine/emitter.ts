import type { Clock } from '../../foundation/clock.ts'
import { isThenable } from '../../foundation/thenable.ts'
import type { HoldfastEvent, Observer } from '../../observe/port.ts'
import { refOf } from '../operation/outcome.ts'
import type { OperationRecord } from '../operation/record.ts'
import { shownUrl } from '../operation/view.ts'

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never
/** Where it does not say when, it is now. */
type Told = Without<HoldfastEvent, 'at'> & { readonly at?: number }
type OfOperation = Extract<HoldfastEvent, { readonly operation: unknown }>
type ToldOf = Without<OfOperation, 'at' | 'operation' | 'method' | 'url'> & { readonly at?: number }

/** Tells the observer. Whatever the observer does, throwing or rejecting, no call can notice. */
export class Emitter {
  readonly #observer: Observer | undefined
  readonly #clock: Clock

  constructor(observer: Observer | undefined, clock: Clock) {
    this.#observer = observer
    this.#clock = clock
  }

  /** What happened to an operation. Costs next to nothing where nobody listens. */
  tellOf(record: OperationRecord, event: ToldOf): void {
    if (!this.#observer) return
    const { method } = record.request
    this.tell({ ...event, operation: refOf(record), method, url: shownUrl(record.request) } as Told)
  }

  tell(event: Told): void {
    if (!this.#observer) return
    // Whole milliseconds, as logs want them; jitter makes fractions.
    const told = { ...event, at: Math.floor(event.at ?? this.#clock.now()) }
    if ('until' in told) told.until = Math.ceil(told.until)
    try {
      const returned: unknown = this.#observer(told as HoldfastEvent)
      if (isThenable(returned)) returned.then(undefined, () => {})
    } catch {
      // An observer that fails is the observer's problem.
    }
  }
}
