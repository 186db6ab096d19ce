import type { HoldfastError } from '../../errors/holdfast-error.ts'
import { isReplayed } from '../../protocol/header-names.ts'
import { toResponse } from '../../protocol/stored-message.ts'
import { errorOf } from '../operation/outcome.ts'
import type { Json, OperationRecord, SettledStatus } from '../operation/record.ts'

/** What a handler is told, in whichever process it runs. */
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

/** Who wants to know how operations end, by name. */
export class Handlers {
  readonly #handlers = new Map<string, Set<SettlementHandler>>()
  readonly #outside: <T>(work: () => T) => T

  /** A handler runs outside: whoever is being served where an operation happens to settle does not wait for it. */
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
   * Calls every handler in turn; throws what the first failing one threw. False where there is none (any more): a
   * handler that was there when the operation settled may be gone by now.
   */
  async deliver(record: OperationRecord): Promise<boolean> {
    const named = record.name === undefined ? [] : [...(this.#handlers.get(record.name) ?? [])]
    const handlers = [...named, ...(this.#handlers.get('*') ?? [])]
    for (const handler of handlers) await this.#outside(() => handler(settlementOf(record)))
    return handlers.length > 0
  }
}

function settlementOf(record: OperationRecord): Settlement {
  const { key, id, name, metadata, attemptCount, response, status } = record
  return {
    operation: { key, id, name, metadata, attempts: attemptCount },
    status: status as SettledStatus,
    response: response && toResponse(response),
    error: status === 'succeeded' ? undefined : errorOf(record),
    replayed: response !== undefined && isReplayed(response.headers),
    mayHaveRepeated: record.mayHaveRepeated,
  }
}
