/** A command as the function takes it. `at` is its number in the batch. */
export interface EncodedCommand {
  readonly do: string
  readonly namespace?: string | undefined
  readonly key?: string | undefined
  readonly id?: string | null | undefined
  readonly yields?: true | undefined
  readonly [field: string]: unknown
}

/** Commands of one kind, each about another row: one statement does them all. */
interface Group {
  readonly do: string
  readonly yields: true | undefined
  readonly key: string | undefined
  readonly rows: EncodedCommand[]
}

const GROUPED: ReadonlySet<string> = new Set(['append', 'change', 'renew'])

/**
 * Puts the commands of a batch that append, change or renew into groups. Commands about different rows may change places:
 * what comes of them is the same. Every other command, and a second one about the same key or id, stays behind all
 * that were before it.
 *
 *   change a, append b, change c, claim, append d   ──▶   change [a, c], append [b], claim, append [d]
 */
export function grouped(commands: readonly EncodedCommand[]): (EncodedCommand | Group)[] {
  const steps: (EncodedCommand | Group)[] = []
  const open = new Map<string, Group>()
  const seen = new Set<string>()
  for (const command of commands) {
    if (command.yields || !isFirstOf(command, seen)) open.clear()
    if (!GROUPED.has(command.do)) {
      open.clear()
      steps.push(command)
      continue
    }
    const group = open.get(command.do) ?? newGroup(command)
    if (group.rows.length === 0) steps.push(group)
    group.rows.push(command)
    if (!command.yields) open.set(command.do, group)
  }
  return steps
}

/** Each command of a batch on its own. */
export function apart(commands: readonly EncodedCommand[]): (EncodedCommand | Group)[] {
  return commands.map((command) => (GROUPED.has(command.do) ? { ...newGroup(command), rows: [command] } : command))
}

function newGroup({ do: kind, yields, key }: EncodedCommand): Group {
  return { do: kind, yields, key, rows: [] }
}

/** Has no command before this one named its key or id? */
function isFirstOf({ namespace, key, id }: EncodedCommand, seen: Set<string>): boolean {
  const before = seen.size
  seen.add(JSON.stringify(['key', namespace, key]))
  if (!id) return seen.size > before
  seen.add(JSON.stringify(['id', namespace, id]))
  return seen.size === before + 2
}
