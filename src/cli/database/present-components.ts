import { Refusal } from '../terminal.ts'
import { COMPONENTS, type Component, type Database, requireTables } from './database.ts'

/** The parts that have tables here. Refuses a database without any, and tables of another version. */
export async function presentComponents(database: Database): Promise<readonly Component[]> {
  const present: Component[] = []
  for (const component of COMPONENTS) if ((await database.version(component)) > 0) present.push(component)
  if (present.length === 0) {
    throw new Refusal(`${database.place.shown} has no tables of Holdfast: neither a journal's nor a ledger's`)
  }
  for (const component of present) await requireTables(database, component)
  return present
}
