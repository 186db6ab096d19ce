import { type DatabaseOptions, withDatabase, withExamples } from '../arguments.ts'
import { COMPONENTS, type Component, type Database, withDatabaseOf } from '../database/database.ts'
import { type Command, Option } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import type { Session } from '../terminal.ts'

interface MigrateOptions extends DatabaseOptions {
  readonly tables?: Component
}

interface Migrated {
  readonly component: Component
  readonly from: number
  readonly to: number
}

export function addMigrate(program: Command, { terminal }: Session): void {
  const command = withDatabase(
    program.command('migrate').description('make the tables, or bring those that are there up to date'),
  )
    .addOption(
      new Option(
        '--tables <part>',
        'which tables (default: those that are there; where there are none, ledger)',
      ).choices(COMPONENTS),
    )
    .action((options: MigrateOptions) =>
      withDatabaseOf({ options, terminal, access: 'write' }, async (database) => {
        const parts = options.tables ? [options.tables] : await partsOf(database)
        const migrated: Migrated[] = []
        for (const part of parts) migrated.push(await migrateOne(database, part))
        if (options.json) return printJson(terminal, migrated)
        for (const one of migrated) await terminal.out(`${sentenceOf(one)}\n`)
      }),
    )
  withExamples(command, [
    ['holdfast migrate --db postgres://admin@db.internal/shop', 'before a deploy, as a role that may create tables'],
    ['holdfast migrate --db shop.db --tables journal', 'the tables of an outbox'],
  ])
}

async function partsOf(database: Database): Promise<readonly Component[]> {
  const versions = await Promise.all(COMPONENTS.map((component) => database.version(component)))
  const present = COMPONENTS.filter((_, at) => (versions[at] ?? 0) > 0)
  return present.length > 0 ? present : ['ledger']
}

async function migrateOne(database: Database, component: Component): Promise<Migrated> {
  const from = await database.version(component)
  await database.migrate(component)
  return { component, from, to: await database.version(component) }
}

function sentenceOf({ component, from, to }: Migrated): string {
  if (from === to) return `${component}: version ${to} already`
  return from === 0 ? `${component}: made, version ${to}` : `${component}: version ${from} to ${to}`
}
