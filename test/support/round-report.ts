/** What came of one round of a hunt. */
export interface RoundReport {
  readonly seed: number
  /** What is wrong, in words; empty is what everybody wants. */
  readonly faults: readonly string[]
  /** How often each blow struck; which ones the hunt has not, and why. */
  readonly blows: Readonly<Record<string, number>>
  readonly notDealt: Readonly<Record<string, string>>
  /** How often callers and handlers were told what. */
  readonly claims: Readonly<Record<string, number>>
  /** Whatever else was counted. */
  readonly numbers: Readonly<Record<string, number>>
  /** Of these the largest of all rounds counts. */
  readonly largest?: Readonly<Record<string, number>>
}

/** Several rounds as one table; `command` is a round's command line but for its seed. */
export function reportText(rounds: readonly RoundReport[], command: string): string {
  const [first] = rounds
  const notDealt = Object.entries(first?.notDealt ?? {}).map(([blow, reason]) => `  ${blow}: not dealt, ${reason}`)
  const parts = [
    `${rounds.length} ${rounds.length === 1 ? 'round' : 'rounds'}: ${inline({ ...sum(rounds, 'numbers'), ...largest(rounds) })}`,
    ['Blows that struck:', ...table(sum(rounds, 'blows')), ...notDealt].join('\n'),
    ['Claims that were made:', ...table(sum(rounds, 'claims'))].join('\n'),
  ]
  for (const { seed, faults } of rounds) {
    if (faults.length > 0) parts.push([`Seed ${seed}:`, ...faults, `Again: ${command} --seed ${seed}`].join('\n'))
  }
  return parts.join('\n\n')
}

function sum(rounds: readonly RoundReport[], of: 'blows' | 'claims' | 'numbers'): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const round of rounds) {
    for (const [name, count] of Object.entries(round[of])) sums[name] = (sums[name] ?? 0) + count
  }
  return sums
}

function largest(rounds: readonly RoundReport[]): Record<string, number> {
  const most: Record<string, number> = {}
  for (const round of rounds) {
    for (const [name, number] of Object.entries(round.largest ?? {})) most[name] = Math.max(most[name] ?? 0, number)
  }
  return most
}

function table(counts: Readonly<Record<string, number>>): string[] {
  const width = Math.max(0, ...Object.keys(counts).map(({ length }) => length))
  return Object.entries(counts).map(([name, count]) => `  ${name.padEnd(width)}  ${String(count).padStart(7)}`)
}

function inline(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${Math.round(count * 10) / 10} ${name}`)
    .join(', ')
}
