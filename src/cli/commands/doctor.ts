import { isHoldfastError } from '../../errors/holdfast-error.ts'
import { redactText } from '../../observe/redact.ts'
import { type DatabaseOptions, withDatabase, withExamples } from '../arguments.ts'
import { COMPONENTS, type Component, type Database, withDatabaseOf } from '../database/database.ts'
import { checkDatabase, checkSchema } from '../doctor/check-database.ts'
import { checkJournal } from '../doctor/check-journal.ts'
import { checkLedger } from '../doctor/check-ledger.ts'
import { type Finding, problem } from '../doctor/finding.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { printVerdicts } from '../render/verdicts.ts'
import { countText } from '../render/words.ts'
import type { Session, Terminal } from '../terminal.ts'

export function addDoctor(program: Command, session: Session): void {
  const { terminal } = session
  const command = withDatabase(
    program.command('doctor').description('look for what is damaged, stuck or misconfigured, and say what to do'),
  ).action((options: DatabaseOptions) =>
    withDatabaseOf({ options, terminal, access: 'read' }, async (database) => {
      const findings = await examine(database, terminal)
      const problems = findings.filter(({ level }) => level === 'problem').length
      if (problems > 0) session.exitCode = 1
      if (options.json) return printJson(terminal, { database: database.place.shown, problems, findings })
      await printVerdicts(
        terminal,
        findings.map(({ level, check, found, advice }) => ({ word: level, name: check, text: found, note: advice })),
      )
      const warnings = findings.filter(({ level }) => level === 'warning').length
      await terminal.out(`\n${countText(problems, 'problem')}, ${countText(warnings, 'warning')}\n`)
    }),
  )
  withExamples(command, [
    ['holdfast doctor --db shop.db', 'a journal, a ledger, or both in one file'],
    ['holdfast doctor --json', 'for a monitor: exit code 1 where there is a problem'],
  ])
}

const CHECKS: Readonly<Record<Component, (database: Database) => Promise<readonly Finding[]>>> = {
  journal: checkJournal,
  ledger: checkLedger,
}

async function examine(database: Database, terminal: Terminal): Promise<readonly Finding[]> {
  const progress = terminal.progress('Checking the database')
  try {
    const findings = [...(await attempt('database', () => checkDatabase(database)))]
    let hasTables = false
    for (const component of COMPONENTS) {
      const schema = await checkSchema(database, component)
      if (!schema) continue
      hasTables = true
      findings.push(schema)
      progress.update(`Checking the ${component}`)
      if (schema.level === 'ok') findings.push(...(await attempt(component, () => CHECKS[component](database))))
    }
    if (!hasTables) findings.push(problem('schema', 'no tables of Holdfast are here', 'is this the right --db?'))
    return findings
  } finally {
    progress.stop()
  }
}

/** A check that can't be made is a finding, too: the others go on. */
async function attempt(name: string, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check()
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    return [problem(name, redactText(error.message), 'mend what is named above, then look again')]
  }
}
