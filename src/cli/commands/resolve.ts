import type { HeaderList } from '../../protocol/headers.ts'
import type { Entry } from '../../server/entry/entry.ts'
import { type Reply, reply } from '../../server/entry/reply.ts'
import { type DatabaseOptions, readBytes, readHeader, withDatabase, withExamples } from '../arguments.ts'
import { withLedgerOf } from '../ledger-session.ts'
import { type Command, InvalidArgumentError } from '../libraries.ts'
import { printJson } from '../render/json.ts'
import { Refusal, type Session, WrongUsage } from '../terminal.ts'

interface ResolveOptions extends DatabaseOptions {
  readonly done?: number
  readonly body?: Uint8Array
  readonly header?: HeaderList
  readonly notDone?: boolean
}

export function addResolve(program: Command, { terminal }: Session): void {
  const command = withDatabase(
    program.command('resolve <scope> <key>').description('decide on an entry that is unknown: was it done?'),
  )
    .option('--done <status>', 'it was done: every retry gets an answer with this status', readStatus)
    .option('--body <file>', 'with --done: the body of that answer', readBytes)
    .option('--header <line>', "with --done: a header of that answer, 'Name: value'", readHeader)
    .option('--not-done', 'it was not done: the key is free, and the next retry runs the handler')
    .action((scope: string, key: string, options: ResolveOptions) => {
      const outcome = outcomeOf(options)
      return withLedgerOf({ options, terminal, access: 'write' }, async (open) => {
        const entry = unknownOf(await open().find(scope, key), { scope, key })
        // The entry's own retention: that of its ledger can't be seen from here.
        const retention = Math.max(1, entry.expiresAt - entry.createdAt)
        if (!(await open(retention).resolve(scope, key, outcome))) {
          throw new Refusal(`The entry ${key} of ${scope} has changed meanwhile. Nothing was decided: look at it again`)
        }
        const resolved = outcome === 'rerun' ? 'not-done' : 'done'
        if (options.json) return printJson(terminal, { scope, key, resolved })
        const means = outcome === 'rerun' ? 'the next retry runs the handler' : `retries get ${outcome.status}`
        await terminal.out(`${key} of ${scope} resolved as ${resolved}: ${means}\n`)
      })
    })
  withExamples(command, [
    ['holdfast entries --db shop.db --state unknown', 'what there is to decide'],
    [
      "holdfast resolve acme 3f1c0a52-… --db shop.db --done 201 --body answer.json --header 'Content-Type: application/json'",
      'the provider shows the charge',
    ],
    ['holdfast resolve acme 3f1c0a52-… --db shop.db --not-done', 'the provider shows none'],
  ])
}

function outcomeOf({ done, notDone, body, header }: ResolveOptions): Reply | 'rerun' {
  if ((done === undefined) === (notDone === undefined)) {
    throw new WrongUsage('resolve needs either --done <status> or --not-done')
  }
  if (done !== undefined) return reply(body ?? null, { status: done, headers: header })
  if (body || header) throw new WrongUsage('--body and --header belong to --done')
  return 'rerun'
}

function unknownOf(entry: Entry | undefined, { scope, key }: { scope: string; key: string }): Entry {
  if (!entry) throw new Refusal(`The ledger has no entry ${key} of the scope ${scope}`)
  if (entry.state === 'unknown') return entry
  throw new Refusal(`The entry ${key} of ${scope} is ${entry.state}, not unknown: there is nothing to decide`)
}

function readStatus(value: string): number {
  if (!/^[2-5]\d\d$/.test(value)) throw new InvalidArgumentError('It has to be a status from 200 to 599.')
  return Number(value)
}
