import { isHoldfastError } from '../errors/holdfast-error.ts'
import { redactText } from '../observe/redact.ts'
import { addCancel } from './commands/cancel.ts'
import { addDoctor } from './commands/doctor.ts'
import { addDrop } from './commands/drop.ts'
import { addEntries } from './commands/entries.ts'
import { addExport } from './commands/export.ts'
import { addInspect } from './commands/inspect.ts'
import { addList } from './commands/list.ts'
import { addMigrate } from './commands/migrate.ts'
import { addProbe } from './commands/probe.ts'
import { addPrune } from './commands/prune.ts'
import { addResolve } from './commands/resolve.ts'
import { addResume } from './commands/resume.ts'
import { addRetry } from './commands/retry.ts'
import { addShow } from './commands/show.ts'
import { addStats } from './commands/stats.ts'
import { Command, CommanderError } from './libraries.ts'
import { safeTerminal } from './safe-terminal.ts'
import { type ExitCode, Refusal, type Session, type Terminal, WrongUsage } from './terminal.ts'
import { readVersion } from './version.ts'

/** Each adds one command, in the order of the help. */
const COMMANDS: readonly ((program: Command, session: Session) => void)[] = [
  addList,
  addShow,
  addResume,
  addRetry,
  addCancel,
  addDrop,
  addPrune,
  addStats,
  addDoctor,
  addExport,
  addInspect,
  addMigrate,
  addEntries,
  addResolve,
  addProbe,
]

const DESCRIPTION = `Looks at operations and ledger entries, goes on with them, and asks servers whether they honour keys.

The journal is the one that --db names, a SQLite file or a postgres:// URL; else $HOLDFAST_DB; else
.holdfast/operations.db. No command makes a database, and only \`migrate\` changes its tables.`

/** Runs one command to its end. Never rejects for what a user can do wrong. */
export async function runCommandLine(args: readonly string[], given: Terminal): Promise<ExitCode> {
  const terminal = safeTerminal(given)
  const session: Session = { terminal, exitCode: 0 }
  try {
    await programOf(session).parseAsync(args, { from: 'user' })
    return session.exitCode
  } catch (error) {
    return report(error, terminal)
  }
}

function programOf(session: Session): Command {
  const { terminal } = session
  const program = new Command('holdfast')
    .description(DESCRIPTION)
    .version(readVersion())
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.err,
      getOutHelpWidth: () => terminal.columns ?? 100,
      getErrHelpWidth: () => terminal.columns ?? 100,
    })
  for (const add of COMMANDS) add(program, session)
  program.addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.')
  return program
}

/** One sentence for the user, without credentials. A fault of our own is thrown on, with its stack. */
function report(error: unknown, { err }: Terminal): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof WrongUsage || error instanceof Refusal || isHoldfastError(error)) {
    err(`holdfast: ${redactText(error.message)}\n`)
    return error instanceof WrongUsage ? 2 : 1
  }
  throw error
}
