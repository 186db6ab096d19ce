import { onAbort } from '../../../foundation/abort.ts'
import type { ClaimedRecord } from '../../journal/record-keeper.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { Engine } from '../engine.ts'
import { LiveOperation } from '../run/live-operation.ts'
import { adopt, claimantAmong, dueFilter, putBackUntouched, takeOver } from './claiming.ts'

/** Which settlements are looked for. */
interface Search {
  readonly dueBy: number
  /** When it was asked for (epoch ms): what a handler has refused since then is not delivered again. */
  readonly askedAt: number
}

export interface DeliveriesOptions {
  readonly engine: Engine
  /** How many settlements of one name are with their handlers at a time. */
  readonly perName: number
  readonly signal: AbortSignal
  /** May nothing be taken up now? */
  readonly isHalted: () => boolean
  readonly onDelivered: (record: OperationRecord) => void
}

/**
 * The settlements that a resume delivers, beside its slots: a handler that hangs stops neither sending nor the settlements
 * of other names. What a name has no room for stays in the journal until one of its deliveries has ended.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions
  readonly #counts = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  #dead: readonly string[] = []
  #search: Search | undefined
  #searching: Promise<void> | undefined
  /** Is a settlement in the journal that had no room when its operation settled here? */
  #hasLeft = false
  /** How many deliveries have ended. */
  #ends = 0
  #wake: (() => void) | undefined
  /** The journal failed while settlements were looked for. */
  failure: { readonly error: unknown } | undefined

  constructor(options: DeliveriesOptions) {
    this.#options = options
  }

  /** The names that have no room; `''` = nameless. */
  get busyNames(): readonly string[] {
    return [...this.#counts].filter(([, count]) => count >= this.#options.perName).map(([name]) => name)
  }

  /**
   * The settlement of this operation, which is about to be sent, is delivered if its name has room, and left in the journal
   * otherwise. Returns how to ask whether it was left.
   */
  bound(operation: LiveOperation): () => boolean {
    let isLeft = false
    this.#options.engine.handlers.admitBy(operation, (record) => {
      isLeft = !this.#admit(record)
      return !isLeft
    })
    void operation.finished.then(() => {
      const { delivered, record } = operation
      if (delivered && isLeft) this.#deliverLater(delivered)
      else if (delivered) this.#follow(record, delivered)
    })
    return () => isLeft
  }

  /** Counts a delivery that begins. False: its name has no room. */
  #admit({ name = '' }: OperationRecord): boolean {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#options.perName) return false
    this.#counts.set(name, count + 1)
    return true
  }

  /** A delivery that was admitted: makes room when it has ended. */
  #follow({ name = '' }: OperationRecord, delivered: Promise<void>): void {
    this.#track(delivered, () => {
      const count = (this.#counts.get(name) ?? 0) - 1
      if (count > 0) this.#counts.set(name, count)
      else this.#counts.delete(name)
      this.#ends++
      this.#wake?.()
    })
  }

  /** A delivery that was not admitted: delivered when there is room, after it was written that it is due. */
  #deliverLater(written: Promise<void>): void {
    this.#track(written, () => {
      this.#hasLeft = true
      if (!this.#searching) this.deliverDue(0, this.#dead)
    })
  }

  #track(work: Promise<void>, onEnd: () => void): void {
    const running: Promise<void> = work.then(() => {
      this.#running.delete(running)
      onEnd()
    })
    this.#running.add(running)
  }

  /** Looks for settlements that are due, until all of them are with their handlers. */
  deliverDue(dueBy: number, dead: readonly string[]): void {
    if (this.#options.engine.handlers.names.length === 0) return
    this.#dead = dead
    this.#search = { dueBy: Math.max(dueBy, this.#search?.dueBy ?? 0), askedAt: this.#options.engine.clock.now() }
    this.#wake?.()
    this.#begin()
  }

  /** Resolves when nothing is delivered or looked for any more. */
  async idle(): Promise<void> {
    while (this.#searching || this.#running.size > 0) await Promise.all([this.#searching, ...this.#running])
  }

  #begin(): void {
    this.#searching ??= this.#searchOn().finally(() => {
      this.#searching = undefined
      if (this.#search && !this.#options.isHalted()) this.#begin()
    })
  }

  async #searchOn(): Promise<void> {
    const { engine, isHalted, signal } = this.#options
    const stopListening = onAbort(signal, () => this.#wake?.())
    try {
      while (this.#search && !isHalted()) {
        const search: Search = this.#search
        const ends = this.#ends
        this.#search = undefined
        const leavesSome = await this.#deliverFound(search)
        if (!leavesSome || this.#search) continue
        if (ends === this.#ends) await this.#nextEnd()
        this.#search ??= { ...search, dueBy: Math.min(search.dueBy, search.askedAt) }
      }
    } catch (error) {
      this.#search = undefined
      this.failure = { error }
      engine.upkeep.reportFailure(undefined, error)
    } finally {
      stopListening()
    }
  }

  /** Resolves when a delivery has ended, when another search is wanted, or when the resume is stopped. */
  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
      if (this.#options.signal.aborted) this.#wake()
    })
  }

  /** True: settlements may be left whose names had no room. */
  async #deliverFound({ dueBy }: Search): Promise<boolean> {
    let leavesSome = this.#hasLeft
    this.#hasLeft = false
    for (let after = 0; !this.#options.isHalted(); ) {
      leavesSome ||= this.busyNames.length > 0
      const last = await this.#deliverSome(after, dueBy)
      if (last === after) break
      after = last
    }
    return leavesSome
  }

  /** Returns the place of the last one that was found. */
  async #deliverSome(after: number, dueBy: number): Promise<number> {
    const { engine, isHalted } = this.#options
    const { forgets } = engine.upkeep
    const filter = { ...dueFilter(engine, this.busyNames), origins: [] }
    const self = await claimantAmong(engine, this.#dead)
    const wanted = { ...self, ...filter, after, dueBy, limit: this.#room() }
    const { claimed, last } = await engine.keeper.claim(wanted)
    // Claimed at the very moment at which the resume was stopped, or the namespace forgotten: free again at once.
    const isStopped = isHalted() || forgets !== engine.upkeep.forgets
    for (const one of claimed) {
      if (!isStopped && adopt(engine, one)) continue
      if (isStopped || !this.#admit(one.record)) await putBackUntouched(engine, one)
      else this.#start(one, self.deadOwners)
    }
    return last
  }

  /** So many fit whatever their names are. */
  #room(): number {
    const { perName } = this.#options
    return perName - Math.max(0, ...[...this.#counts.values()].filter((count) => count < perName))
  }

  #start(claimed: ClaimedRecord, dead: readonly string[]): void {
    const { engine, onDelivered } = this.#options
    const operation = new LiveOperation(takeOver(engine, claimed, dead))
    const delivered = engine.handlers.deliver(engine, operation)
    this.#follow(
      operation.record,
      delivered.then(() => onDelivered(operation.record)),
    )
  }
}
