import type { JournalCommand } from '../../../client/journal/port.ts'
import { isCommit } from '../../command-meaning.ts'
import type { Plan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import type { CallFact, CallResult } from './facts.ts'
import type { Violation } from './oracle.ts'
import { labelOf, type Shadow } from './shadow.ts'

/** So long after its deadline a caller waits for a journal that does not answer; then it gets its success all the same. */
const JOURNAL_PATIENCE_MS = 5000

/**
 * P3 at a server that ignores keys, and does again what is sent again: a success is on disk before its program hears of it. A
 * program gets it all the same if the disk has failed that very write, or has refused it because the lease was lost (P8).
 */
export class SuccessAccount {
  /** The operations of which a program has a success that has to be on disk. */
  readonly #told = new Set<string>()
  /** Successes that were not written, by process and key, as far as the process has heard of that. */
  readonly #unwritten = new Set<string>()

  /** A process hears that this failed, or was refused. */
  notWritten({ name }: SimulatedProcess, command: JournalCommand): void {
    if (isCommit(command) && command.change.status === 'succeeded') this.#unwritten.add(`${name} ${command.key}`)
  }

  /** Of an operation that a program asks for again, a second request is its wish. */
  told({ plan, elapsedAt, process }: CallFact, result: CallResult, shadows: Iterable<Shadow>): void {
    const { label, id, key, retryAfterMs, deadlineMs } = plan
    const isAskedForAgain = (id ?? key ?? retryAfterMs) !== undefined
    const isLate = process.elapsedMs >= elapsedAt + deadlineMs + JOURNAL_PATIENCE_MS
    if (result.is !== 'response' || isAskedForAgain || isLate) return
    for (const shadow of shadows) {
      const isUnwritten = shadow.status !== 'succeeded' && this.#unwritten.has(`${process.name} ${shadow.key}`)
      if (isUnwritten && labelOf(shadow) === label) return
    }
    this.#told.add(label)
  }

  leaves({ number, label }: Pick<Sent, 'number' | 'label'>, { server }: Plan): Violation | undefined {
    if (server !== 'ignores-keys' || !this.#told.has(label)) return undefined
    return ['P3', `request ${number} sends ${label} again, of which its program has a success`]
  }
}
