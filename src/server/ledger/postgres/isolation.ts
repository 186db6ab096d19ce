import { ConfigurationError } from '../../../errors/classes.ts'
import type { TransactOptions } from '../port.ts'

const LEVELS: ReadonlyMap<unknown, string> = new Map([
  [undefined, ''],
  ['read committed', ' ISOLATION LEVEL READ COMMITTED'],
  ['repeatable read', ' ISOLATION LEVEL REPEATABLE READ'],
  ['serializable', ' ISOLATION LEVEL SERIALIZABLE'],
])

/** `BEGIN` at the level that was asked for, or at the database's own. */
export function beginAt({ isolation }: TransactOptions<unknown>): string {
  const level = LEVELS.get(isolation)
  if (level !== undefined) return `BEGIN${level}`
  throw new ConfigurationError(
    `The option \`isolation\` is 'read committed', 'repeatable read' or 'serializable'; it was given ${String(isolation)}`,
  )
}
