import type { OperationRecord } from '../../client/operation/record.ts'
import { isDeadOwner, newProcessOwner } from '../../foundation/process-owner.ts'
import { type JournalOptions, withExamples, withJournal } from '../arguments.ts'
import { type JournalSession, recordOf, withJournalOf } from '../journal-session.ts'
import type { Command } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { operationJson } from '../render/operation-json.ts'
import { relativeText } from '../render/words.ts'
import { Refusal, type Session, type Terminal } from '../terminal.ts'

export function addDrop(program: Command, { terminal }: Session): void {
  const command = withJournal(
    program.command('drop <key>').description('delete the record of one operation, whatever its status'),
  ).action((keyOrId: string, options: JournalOptions) =>
    withJournalOf({ options, terminal, access: 'write' }, async (journal) => {
      if (await dropSetAside(journal, keyOrId)) {
        if (options.json) return printJson(terminal, { dropped: { key: keyOrId } })
        return terminal.out(`${keyOrId} dropped. It could not be read\n`)
      }
      const record = await recordOf(journal, keyOrId)
      await drop(journal, record, terminal)
      if (options.json) return printJson(terminal, { dropped: operationJson(record, terminal.now()) })
      const wasOpen = record.status === 'pending' ? '. It was pending, and is not sent any more' : ''
      await terminal.out(`${record.key} dropped${wasOpen}\n`)
    }),
  )
  withExamples(command, [
    ['holdfast drop order:42:charge', 'a rejected one that holds its lane: the lane goes on'],
    ['holdfast cancel order:42:charge', 'what to prefer for a pending one: its handler is told'],
  ])
}

/** A record that can't be read and was set aside can't be claimed either, and no runner works on it. */
async function dropSetAside({ database, namespace }: JournalSession, keyOrId: string): Promise<boolean> {
  const quoted = (text: string): string => `'${text.replace(/'/g, "''")}'`
  const isTrue = database.place.kind === 'sqlite' ? '= 1' : ''
  const rows = await database.rows(`DELETE FROM ${database.table('operations')}
    WHERE namespace = ${quoted(namespace)} AND ${quoted(keyOrId)} IN (key, id) AND set_aside ${isTrue} RETURNING key`)
  return rows.length > 0
}

const LEASE_MS = 10_000

/** Only what is free: the record is claimed first, so that no runner can be at work on it. */
async function drop({ keeper }: JournalSession, record: OperationRecord, terminal: Terminal): Promise<void> {
  const { namespace, key, status, lease } = record
  const { owner, leave } = newProcessOwner()
  try {
    const now = terminal.now()
    const deadOwners = lease && isDeadOwner(lease.owner) ? [lease.owner] : []
    const claimant = { namespace, owner, now, leaseUntil: now + LEASE_MS, deadOwners }
    const claimed = await keeper.claimOne(claimant, { key, statuses: [status] })
    const isGone = claimed && (await keeper.remove({ namespace, key, owner, epoch: claimed.record.epoch }))
    if (isGone) return
  } finally {
    leave()
  }
  const until = lease ? `, whose lease ends ${relativeText(lease.until, terminal.now())}` : ''
  throw new Refusal(`${key} is being worked on by another process${until}. Nothing was dropped: cancel it first`)
}
