import type { StorageError } from '../../../errors/classes.ts'
import { isHeldError, postgresFailure } from '../../../sql/postgres-failure.ts'
import type { JournalCommand, JournalResult } from '../port.ts'
import { type BatchLine, decodeAnswers } from './journal-batch.ts'

/** A command of a shared batch that was left out of it. Nothing of it was written. */
export class NotDone {
  readonly failure: StorageError
  /** Another transaction holds its row, its id or its lane: it may be done as soon as that has ended. */
  readonly isHeld: boolean

  constructor(failure: StorageError) {
    this.failure = failure
    this.isHeld = isHeldError(failure.cause)
  }
}

export type EachResult = JournalResult | NotDone

/** One line of the answer of `each-function.ts`. */
export interface EachLine extends BatchLine {
  /** The SQLSTATE of a command that was left out; `answer` is then the message. */
  readonly failure: string | null
}

/** One result per command, in their order. `subject` is that of error messages. */
export function decodeEach(
  commands: readonly JournalCommand[],
  lines: readonly EachLine[],
  subject: string,
): EachResult[] {
  const done = lines.filter(({ failure }) => failure === null)
  const results: EachResult[] = decodeAnswers(commands, done)
  for (const { at, failure, answer } of lines) {
    if (failure === null) continue
    const cause = Object.assign(new Error(answer), { code: failure })
    results[Number(at)] = new NotDone(postgresFailure(cause, subject))
  }
  return results
}
