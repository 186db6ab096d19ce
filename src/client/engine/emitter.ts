import type { Clock } from '../../foundation/clock.ts'
import { isThenable } from '../../foundation/thenable.ts'
import type { HoldfastEvent, Observer } from '../../observe/port.ts'
import { refOf } from '../operation/outcome.ts'
import type { OperationRecord } from '../operation/record.ts'
import { shownUrl } from '../operation/view.ts'

type Without<Event, Names extends string> = Event extends unknown ? Omit<Event, Names> : never
/** An event without a time happens now. */
type Untimed = Without<HoldfastEvent, 'at'> & { readonly at?: number }
type OperationEvent = Extract<HoldfastEvent, { readonly operation: unknown }>
type UntimedOperationEvent = Without<OperationEvent, 'at' | 'operation' | 'method' | 'url'> & { readonly at?: number }

/** Calls the observer. No call notices what the observer does, throwing or rejecting. */
export class Emitter {
  readonly #observer: Observer
  readonly #clock: Clock

  constructor(observer: Observer, clock: Clock) {
    this.#observer = observer
    this.#clock = clock
  }

  emitFor(record: OperationRecord, event: UntimedOperationEvent): void {
    const { method } = record.request
    this.emit({ ...event, operation: refOf(record), method, url: shownUrl(record.request) } as Untimed)
  }

  emit(event: Untimed): void {
    // Whole milliseconds, as logs want them; jitter makes fractions.
    const whole = { ...event, at: Math.floor(event.at ?? this.#clock.now()) }
    if ('until' in whole) whole.until = Math.ceil(whole.until)
    try {
      const returned: unknown = this.#observer(whole as HoldfastEvent)
      if (isThenable(returned)) returned.then(undefined, () => {})
    } catch {
      // The observer's failure is not the call's.
    }
  }
}
