import type { Journal, JournalCommand, ResultOf } from '../../../client/journal/port.ts'

/** What the suite needs to know about a journal. */
export interface JournalContractOptions {
  /** A journal on a store that is empty. */
  open(): Journal | Promise<Journal>
  /** A second journal on the store of the given one, as another process would open it. */
  another?: ((journal: Journal) => Journal | Promise<Journal>) | undefined
  /** For journals that outlive their process: what a new process would open after the given one was closed. */
  reopen?: ((journal: Journal) => Journal | Promise<Journal>) | undefined
}

/** One promise of the port, for any test runner: it holds if `run` resolves. */
export interface ContractCase {
  readonly name: string
  run(): Promise<void>
}

export type Results<C extends readonly JournalCommand[]> = { -readonly [I in keyof C]: ResultOf<C[I]> }

/** A journal in the hands of a case. */
export interface Subject {
  readonly journal: Journal
  /** Runs one command as a batch. */
  run<C extends JournalCommand>(command: C): Promise<ResultOf<C>>
  /** Runs several as one batch. */
  batch<const C extends readonly JournalCommand[]>(...commands: C): Promise<Results<C>>
}

export type CaseBody = (subject: Subject, options: JournalContractOptions) => Promise<void>

export function subjectOf(journal: Journal): Subject {
  const batch: Subject['batch'] = async (...commands) => (await journal.execute(commands)) as never
  const run: Subject['run'] = async (command) => (await journal.execute([command]))[0] as never
  return { journal, run, batch }
}

export function contractCase(options: JournalContractOptions, name: string, body: CaseBody): ContractCase {
  return { name, run: () => withJournal(options, body) }
}

async function withJournal(options: JournalContractOptions, body: CaseBody): Promise<void> {
  const journal = await options.open()
  await journal.open()
  try {
    await body(subjectOf(journal), options)
  } finally {
    await journal.close()
  }
}
