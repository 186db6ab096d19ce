import { StorageError } from '../../src/errors/classes.ts'
import type { Journal } from '../../src/index.ts'
import type { LedgerStore } from '../../src/server/adapter/index.ts'

/** `work` runs what the user gave it, in a transaction, and may take its time. */
type CallKind = 'write' | 'work' | 'look'

/** What happens to the calls of a store on their way. */
interface StoreFault {
  pass<T>(kind: CallKind, call: () => Promise<T>): Promise<T>
}

/** A store that fails for a moment and is well again, as after a full disk, a failover or a network that was away. */
export class Blink implements StoreFault {
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
  async pass<T>(kind: CallKind, call: () => Promise<T>): Promise<T> {
    if (performance.now() >= this.#until) return call()
    if (kind !== 'look' && !this.#hasStruck) {
      this.#hasStruck = true
      this.#onBlinked()
    }
    if (this.#calls++ % 2 === 0) throw new StorageError('The store is away for a moment', { effect: 'none' })
    await call()
    throw new StorageError('The store went away before it answered', { effect: 'unknown' })
  }
}

/** A store that does for a moment what it is asked to, and answers when its caller has stopped waiting. */
export class LateAnswers implements StoreFault {
  readonly #storeTimeoutMs: number
  readonly #onLate: () => void
  #until = 0
  #hasStruck = false

  /** Told once for each such moment in which a write was done and the answer to it came too late. */
  constructor(storeTimeoutMs: number, onLate: () => void) {
    this.#storeTimeoutMs = storeTimeoutMs
    this.#onLate = onLate
  }

  begin(ms: number): void {
    this.#until = performance.now() + ms
    this.#hasStruck = false
  }

  async pass<T>(kind: CallKind, call: () => Promise<T>): Promise<T> {
    const isLate = performance.now() < this.#until
    try {
      return await call()
    } finally {
      if (isLate) await this.#holdUp(kind)
    }
  }

  async #holdUp(kind: CallKind): Promise<void> {
    const ms = this.#storeTimeoutMs * (1.1 + Math.random())
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (kind !== 'write' || this.#hasStruck) return
    this.#hasStruck = true
    this.#onLate()
  }
}

const JOURNAL_WRITES: ReadonlySet<string> = new Set(['append', 'write'])

export function blinkingJournal(journal: Journal, blink: Blink): Journal {
  return {
    get level() {
      return journal.level
    },
    open: () => journal.open(),
    close: () => journal.close(),
    execute: (commands, now) => {
      const writes = commands.some((command) => JOURNAL_WRITES.has(command.do))
      return blink.pass(writes ? 'write' : 'look', () => journal.execute(commands, now))
    },
    ...peersOf(journal),
  }
}

/** Hints are lost with the process alone: a poll finds what they would have told. */
function peersOf(journal: Journal): Pick<Journal, 'notifyPeers' | 'onPeerMessage'> {
  if (!journal.notifyPeers || !journal.onPeerMessage) return {}
  return { notifyPeers: journal.notifyPeers.bind(journal), onPeerMessage: journal.onPeerMessage.bind(journal) }
}

/** Not `close`, and not `entries`, which is no promise. */
const LEDGER_CALLS: ReadonlyMap<string | symbol, CallKind> = new Map([
  ...(['insert', 'takeOver', 'complete', 'release', 'abandon'] as const).map((of) => [of, 'write'] as const),
  ...(['transact', 'atomic'] as const).map((of) => [of, 'work'] as const),
  ...(['renew', 'consume', 'find', 'reap', 'stats', 'gauges', 'count', 'erase'] as const).map(
    (of) => [of, 'look'] as const,
  ),
])

export function faultyLedger<Store extends LedgerStore>(store: Store, fault: StoreFault): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args)
      const kind = LEDGER_CALLS.get(name)
      return kind ? (...args: unknown[]) => fault.pass(kind, async () => call(...args)) : call
    },
  })
}
