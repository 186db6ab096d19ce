import type { HoldfastError } from '../../../errors/holdfast-error.ts'
import { startTimer } from '../../../foundation/clock.ts'
import { type EndWait, waitFor } from '../../../foundation/wait.ts'
import { isReplayed } from '../../../protocol/header-names.ts'
import { toResponse } from '../../../protocol/stored-message.ts'
import { settledError } from '../../operation/outcome.ts'
import type { Json, OperationRecord, SettledStatus } from '../../operation/record.ts'
import { countFruitlessRun, markDelivered, release } from '../../operation/transition.ts'
import { delayBetweenRuns } from '../../policy/decide.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from '../run/live-operation.ts'
import { expiryOf, withoutLease } from '../run/settle.ts'

/** What a handler is called with, in whichever process it runs. */
export interface Settlement {
  readonly operation: {
    readonly key: string
    readonly id: string | undefined
    readonly name: string | undefined
    readonly metadata: Json | undefined
    readonly attempts: number
  }
  readonly status: SettledStatus
  /** The final answer, where there was one; fresh and readable. */
  readonly response: Response | undefined
  readonly error: HoldfastError | undefined
  /** Did the server answer from its record of an earlier attempt? */
  readonly replayed: boolean
  /**
   * It succeeded, but an earlier attempt may have been done as well, and nothing in the answer shows that the server
   * does the work of a key once.
   */
  readonly mayHaveRepeated: boolean
}

export type SettlementHandler = (settlement: Settlement) => unknown

/** The handlers of settlements, by name. */
export class Handlers {
  readonly #handlers = new Map<string, Set<SettlementHandler>>()
  readonly #outside: <T>(work: () => T) => T
  readonly #deliveries = new Set<Promise<void>>()
  /** Each ends the wait for the handlers of one delivery. */
  readonly #abandons = new Set<() => void>()
  readonly #admissions = new WeakMap<LiveOperation, (record: OperationRecord) => boolean>()

  /** `outside`: a handler is not held to the limits of a request that is being served where an operation settles. */
  constructor(outside: <T>(work: () => T) => T) {
    this.#outside = outside
  }

  add(name: string, handler: SettlementHandler): () => void {
    const registered = this.#handlers.get(name) ?? new Set()
    this.#handlers.set(name, registered.add(handler))
    return () => {
      registered.delete(handler)
      if (registered.size === 0) this.#handlers.delete(name)
    }
  }

  /** Must the settlement of this operation be kept until a handler took it? */
  owed(name: string | undefined): boolean {
    return name !== undefined || this.#handlers.has('*')
  }

  /** Is there a handler for it here? */
  has(name: string | undefined): boolean {
    return this.#handlers.has('*') || (name !== undefined && this.#handlers.has(name))
  }

  /** The names a resume may claim undelivered settlements of. */
  get names(): readonly string[] | '*' {
    return this.#handlers.has('*') ? '*' : [...this.#handlers.keys()]
  }

  /**
   * Calls every handler, whatever becomes of the others; throws what the first failing one threw, once all have ended.
   * False if there is none (any more): a handler that was there when the operation settled may be gone by now.
   */
  async call(record: OperationRecord): Promise<boolean> {
    const named = record.name === undefined ? [] : [...(this.#handlers.get(record.name) ?? [])]
    const handlers = [...named, ...(this.#handlers.get('*') ?? [])]
    const calls = handlers.map(async (handler) => void (await this.#outside(() => handler(settlementOf(record)))))
    for (const ended of await Promise.allSettled(calls)) if (ended.status === 'rejected') throw ended.reason
    return handlers.length > 0
  }

  /** Hands a settlement over; the record is released only after the handlers have taken it. Never rejects. */
  deliver(engine: Engine, operation: LiveOperation): Promise<void> {
    const isAdmitted = this.#admissions.get(operation)?.(operation.record) ?? true
    const deliver = isAdmitted ? this.#deliver(engine, operation) : leaveForLater(engine, operation)
    const delivery = deliver.finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
    return delivery
  }

  /** Asked when the operation has settled. False: its settlement stays in the journal, due at once, for a later claim. */
  admitBy(operation: LiveOperation, admit: (record: OperationRecord) => boolean): void {
    this.#admissions.set(operation, admit)
  }

  /** The client closes: handlers that hang are waited for no longer, and their settlements are released for others. */
  async abandon(): Promise<void> {
    for (const abandon of [...this.#abandons]) abandon()
    await Promise.all(this.#deliveries)
  }

  async #deliver(engine: Engine, operation: LiveOperation): Promise<void> {
    engine.leases.hold(operation)
    try {
      // Another runner that has taken it after a freeze may have settled it otherwise, and delivers what is owed.
      if (!(await engine.leases.isOurs(operation))) return
      const outcome = await this.#attempt(engine, operation)
      if (outcome === 'delivered') await markAsDelivered(engine, operation)
      else if (outcome === 'not taken') await leaveUndelivered(engine, operation)
      else await postpone(engine, operation, outcome.error)
    } catch (error) {
      engine.upkeep.reportFailure(operation.record.key, error)
    } finally {
      engine.leases.drop(operation)
    }
  }

  async #attempt({ clock }: Engine, { record }: LiveOperation): Promise<Delivered> {
    const watch = (end: EndWait<boolean>): (() => void) => {
      const abandon = (): void => end(() => false)
      const cancelTimer = startTimer(clock, LONGEST_HANDLER_MS, () => end(late))
      this.#abandons.add(abandon)
      return () => {
        this.#abandons.delete(abandon)
        cancelTimer()
      }
    }
    try {
      return (await waitFor(this.call(record), watch)) ? 'delivered' : 'not taken'
    } catch (error) {
      return { error }
    }
  }
}

/** `not taken`: there is no handler any more, or the client has closed before it ended. */
type Delivered = 'delivered' | 'not taken' | { readonly error: unknown }

function settlementOf(record: OperationRecord): Settlement {
  const { key, id, name, metadata, attemptCount, response, status } = record
  return {
    operation: { key, id, name, metadata, attempts: attemptCount },
    status: status as SettledStatus,
    response: response && toResponse(response),
    error: status === 'succeeded' ? undefined : settledError(record),
    replayed: response !== undefined && isReplayed(response.headers),
    mayHaveRepeated: record.mayHaveRepeated,
  }
}

/** A handler that hangs must not keep the settlement from others for ever; it is then delivered again. */
const LONGEST_HANDLER_MS = 300_000

function late(): never {
  throw new Error('The handler did not finish within five minutes')
}

async function markAsDelivered(engine: Engine, operation: LiveOperation): Promise<void> {
  const delivered = markDelivered(operation.record)
  const record = { ...delivered, expiresAt: expiryOf(engine.options, delivered, { deliveredAt: engine.clock.now() }) }
  await engine.keeper.commit(withoutLease(record), operation.fence)
  engine.upkeep.pruner.expect(engine, record.expiresAt)
}

/** Its handler was removed, or its client closes: the next resume that has one delivers it. */
async function leaveUndelivered(engine: Engine, operation: LiveOperation): Promise<void> {
  await engine.keeper.commit(withoutLease(operation.record), operation.fence)
}

/** Too many of its name are with their handlers. Never rejects. */
async function leaveForLater({ keeper, leases, upkeep }: Engine, operation: LiveOperation): Promise<void> {
  leases.drop(operation)
  try {
    await keeper.commit(release(operation.record, { dueAt: 0, heldBy: undefined }), operation.fence)
  } catch (error) {
    upkeep.reportFailure(operation.record.key, error)
  }
}

/** The handler threw: the settlement stays, and the next resume delivers it again. */
async function postpone(engine: Engine, operation: LiveOperation, error: unknown): Promise<void> {
  const now = engine.clock.now()
  // Later than now: the search that has found it does not find it again.
  const dueAt = now + Math.max(1, delayBetweenRuns(operation.record.fruitlessRuns, engine.random))
  const postponed = release(countFruitlessRun(operation.record), { dueAt, heldBy: undefined })
  engine.events?.emitFor(postponed, { type: 'operation.waiting', at: now, until: dueAt, reason: 'attempts', error })
  await engine.keeper.commit(postponed, operation.fence)
}
