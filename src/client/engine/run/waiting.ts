import type { RequestKind } from '../../gate/gate-state.ts'
import type { OriginGate } from '../../gate/origin-gate.ts'
import type { Departure, Entry, Ticket } from '../../gate/waiting-line.ts'

/** A ticket, and the promise of its answer. */
export class Waiting implements Ticket {
  readonly kind: RequestKind
  readonly leaveAt: number
  readonly spreadUntil: number | undefined
  readonly since: number | undefined
  #called: ((entry: Entry | undefined) => void) | undefined
  #entry: Entry | undefined

  constructor({ kind, leaveAt, spreadUntil }: Departure, since?: number) {
    this.kind = kind
    this.leaveAt = leaveAt
    this.spreadUntil = spreadUntil
    this.since = since
  }

  /** Undefined: it has left. */
  get answer(): Promise<Entry | undefined> {
    return new Promise((resolve) => {
      if (this.#entry) resolve(this.#entry)
      this.#called = resolve
    })
  }

  called(entry: Entry): void {
    this.#entry = entry
    this.#called?.(entry)
  }

  leave(gate: OriginGate): void {
    gate.leave(this)
    this.#called?.(undefined)
  }
}
