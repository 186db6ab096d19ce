import { StorageError } from '../../src/errors/classes.ts'
import type { Journal } from '../../src/index.ts'
import type { LedgerStore } from '../../src/server/adapter/index.ts'

/** A store that fails for a moment and is well again, as after a full disk, a failover or a network that was away. */
export class Blink {
  readonly #onBlinked: () => void
  #until = 0
  #calls = 0
  #hasStruck = false

  /** Told once for each blink in which a call failed that somebody was waiting for. */
  constructor(onBlinked: () => void) {
    this.#onBlinked = onBlinked
  }

  begin(ms: number): void {
    this.#until = performance.now() + ms
    this.#hasStruck = false
  }

  /** Every second call that fails has done its work before: only its answer is lost. */
  async pass<T>(kind: 'write' | 'look', call: () => Promise<T>): Promise<T> {
    if (performance.now() >= this.#until) return call()
    if (kind === 'write' && !this.#hasStruck) {
      this.#hasStruck = true
      this.#onBlinked()
    }
    if (this.#calls++ % 2 === 0) throw new StorageError('The store is away for a moment', { effect: 'none' })
    await call()
    throw new StorageError('The store went away before it answered', { effect: 'unknown' })
  }
}

const JOURNAL_WRITES: ReadonlySet<string> = new Set(['append', 'write'])

export function blinkingJournal(journal: Journal, blink: Blink): Journal {
  return {
    level: journal.level,
    open: () => journal.open(),
    close: () => journal.close(),
    execute: (commands) => {
      const writes = commands.some((command) => JOURNAL_WRITES.has(command.do))
      return blink.pass(writes ? 'write' : 'look', () => journal.execute(commands))
    },
  }
}

/** Not `close`, and not `entries`, which is no promise. */
const LEDGER_CALLS: ReadonlyMap<string | symbol, 'write' | 'look'> = new Map([
  ...(['insert', 'takeOver', 'complete', 'release', 'abandon', 'transact'] as const).map(
    (of) => [of, 'write'] as const,
  ),
  ...(['renew', 'consume', 'find', 'reap', 'stats', 'gauges', 'count', 'erase'] as const).map(
    (of) => [of, 'look'] as const,
  ),
])

export function blinkingLedger<Store extends LedgerStore>(store: Store, blink: Blink): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args)
      const kind = LEDGER_CALLS.get(name)
      return kind ? (...args: unknown[]) => blink.pass(kind, async () => call(...args)) : call
    },
  })
}
