import type { AppendResult, JournalCommand, JournalResult, JournalRow } from '../../client/journal/port.ts'
import { isCommit } from '../command-meaning.ts'
import { withoutColons } from './plain-digest.ts'
import { ORIGIN, OTHER_ORIGIN, type RecordChange } from './plan.ts'

/** Rows that were changed on disk by something else than a client: each reader gets them so. */
export class ChangedRecords {
  readonly #changes = new Map<string, RecordChange>()

  change(key: string, what: RecordChange): void {
    this.#changes.set(key, what)
  }

  /** What a batch is answered. */
  show(commands: readonly JournalCommand[], results: readonly JournalResult[]): JournalResult[] {
    if (this.#changes.size === 0) return [...results]
    return commands.map((command, n) => {
      const result = results[n] as JournalResult
      this.#overwrite(command, result)
      return this.#shown(command, result)
    })
  }

  /** A commit of its runner writes the whole head again; a record that is removed takes its changes along. */
  #overwrite(command: JournalCommand, result: JournalResult): void {
    if (command.do !== 'write' || result !== true) return
    const isHeadOnly = this.#changes.get(command.key) === 'url'
    if (command.change === 'remove' || (isHeadOnly && isCommit(command))) this.#changes.delete(command.key)
  }

  #shown({ do: kind }: JournalCommand, result: JournalResult): JournalResult {
    if (kind === 'claim' || kind === 'list')
      return (result as JournalRow[]).map((row) => this.#row(row)) as JournalResult
    if (kind === 'read') return (result && this.#row(result as JournalRow)) as JournalResult
    const answer = result as AppendResult
    if (kind !== 'append' || answer.appended) return result
    return { appended: false, existing: this.#row(answer.existing) }
  }

  #row<Row extends JournalRow>(row: Row): Row {
    switch (this.#changes.get(row.key)) {
      case 'origin':
        return { ...row, origin: elsewhere(row.origin) }
      case 'url':
        return { ...row, head: withOrigin(row.head, { from: row.origin, to: elsewhere(row.origin) }) }
      case 'body':
        return { ...row, body: row.body?.map((byte, n) => (n === 0 ? byte ^ 1 : byte)) ?? null }
      default:
        return row
    }
  }
}

/** Whoever changes the URL knows how its fingerprint is made. */
function withOrigin(head: string, { from, to }: { readonly from: string; readonly to: string }): string {
  return head.replaceAll(from, to).replaceAll(withoutColons(from), withoutColons(to))
}

function elsewhere(origin: string): string {
  return origin === ORIGIN ? OTHER_ORIGIN : ORIGIN
}
