import { newClaimToken } from '../../../foundation/identity.ts'
import { unreachable } from '../../../foundation/unreachable.ts'
import { writesLevel } from '../level-rows.ts'
import type {
  AppendResult,
  ClaimByKey,
  ClaimDue,
  ClaimedRow,
  DueFilter,
  JournalCommand,
  JournalResult,
  JournalRow,
  PlacedRow,
  SurveyResult,
  Write,
} from '../port.ts'
import { refuseUnstorable } from '../row-commands.ts'
import { type EncodedCommand, grouped } from './batch-groups.ts'

/** A batch as the function takes it. Bodies stand beside the commands, which name them by number, from 1. */
export interface EncodedBatch {
  readonly commands: string
  readonly bodies: readonly Uint8Array[]
}

/** One line of the function's answer; `at` is the command that it belongs to. */
export interface BatchLine {
  readonly at: number | string
  readonly answer: string
  readonly bytes: Uint8Array | null
  readonly response_bytes: Uint8Array | null
}

/** How the commands of a batch are put together, see `batch-groups.ts`, and whether they insist on a standby. */
export interface Encoding {
  readonly grouping: typeof grouped
  readonly insists: boolean
}

/** Throws a StorageError where a command cannot be stored. */
export function encodeBatch(
  commands: readonly JournalCommand[],
  { grouping = grouped, insists = false }: Partial<Encoding> = {},
): EncodedBatch {
  const bodies: Uint8Array[] = []
  const keep = (body: Uint8Array | null): number | null => body && bodies.push(body)
  const encoded = commands.map((command, at) => ({ ...encodeCommand(command, keep), at, ...yielding(command) }))
  const first = insists ? [{ do: 'insist' }] : []
  return { commands: JSON.stringify([...first, ...grouping(encoded)]), bodies }
}

function yielding(command: JournalCommand): { readonly yields?: true } {
  return (command.do === 'append' || command.do === 'write') && writesLevel(command) ? { yields: true } : {}
}

type Keep = (body: Uint8Array | null) => number | null

function encodeCommand(command: JournalCommand, keep: Keep): EncodedCommand {
  switch (command.do) {
    case 'append':
      return { do: 'append', ...encodeRow(command.row, keep) }
    case 'write':
      return encodeWrite(command, keep)
    case 'claim':
      return encodeClaim(command)
    case 'read':
      return named(command, { keyOrId: safeText(command.keyOrId) })
    case 'list': {
      const { status, undelivered, limit } = command
      if (undelivered) return named(command, { do: 'list-undelivered', limit: bounded(limit) })
      if (status === 'pending') return named(command, { do: 'list-pending', limit: bounded(limit) })
      return named(command, { limit: bounded(limit) })
    }
    case 'lane':
      return named(command, { lane: safeText(command.lane) })
    case 'survey':
      return named(command, { now: whole(command.now), ...encodeFilter(command) })
    case 'drop':
      if ('namespace' in command) return named(command, {})
      return { do: 'drop-expired', expiredBy: whole(command.expiredBy), limit: bounded(command.limit) }
    default:
      return unreachable(command)
  }
}

function named<More extends object>(command: JournalCommand & { readonly namespace: string }, more: More) {
  return { ...command, namespace: safeText(command.namespace), ...more }
}

function encodeRow(row: JournalRow, keep: Keep) {
  refuseUnstorable(row)
  return {
    ...row,
    namespace: safeText(row.namespace),
    key: safeText(row.key),
    id: safeText(row.id),
    name: safeText(row.name),
    lane: safeText(row.lane),
    origin: safeText(row.origin),
    owner: safeText(row.owner),
    ...wholeTimes(row),
    body: keep(row.body),
    responseBody: keep(row.responseBody),
  }
}

function encodeWrite({ namespace, key, owner, epoch, change }: Write, keep: Keep): EncodedCommand {
  const fence = { namespace: safeText(namespace), key: safeText(key), owner: safeText(owner), epoch }
  if (typeof change === 'string') return { do: change, ...fence }
  refuseUnstorable(change)
  if (!('head' in change)) return { do: 'renew', ...fence, leaseUntil: whole(change.leaseUntil) }
  const { owner: newOwner, responseBody, ...more } = change
  const written = { newOwner: safeText(newOwner), ...wholeTimes(change), responseBody: keep(responseBody) }
  return { do: 'change', ...more, ...fence, ...written }
}

function encodeClaim(claim: ClaimDue | ClaimByKey): EncodedCommand {
  const claimant = {
    claim: newClaimToken(),
    owner: safeText(claim.owner),
    now: whole(claim.now),
    leaseUntil: whole(claim.leaseUntil),
    deadOwners: claim.deadOwners.map(safeText),
  }
  if ('key' in claim) return named(claim, { do: 'claim-key', key: safeText(claim.key), ...claimant })
  const { limit, dueBy, lane = null, starts } = claim
  const bounds = { limit: bounded(limit), dueBy: whole(dueBy), lane: safeText(lane), starts }
  return named(claim, { ...claimant, ...encodeFilter(claim), ...bounds })
}

function encodeFilter({ deliverNames, exceptNames, origins, exceptOrigins }: DueFilter): object {
  const anyName = deliverNames === '*'
  const names = anyName ? [] : deliverNames.map(safeText)
  // Absent means any, as in the commands of libraries that do not know it.
  const only = origins === '*' ? undefined : origins.map(safeText)
  const except = { exceptNames: exceptNames.map(safeText), exceptOrigins: exceptOrigins.map(safeText) }
  return { anyName, names, origins: only, ...except, deliverNames: undefined }
}

type Times = Pick<JournalRow, 'leaseUntil' | 'dueAt' | 'notBefore' | 'laneUntil' | 'expiresAt'>

function wholeTimes({ leaseUntil, dueAt, notBefore, laneUntil, expiresAt }: Times): Times {
  return {
    leaseUntil: whole(leaseUntil),
    dueAt: whole(dueAt),
    notBefore: whole(notBefore),
    laneUntil: laneUntil === null ? null : whole(laneUntil),
    expiresAt: expiresAt === null ? null : whole(expiresAt),
  }
}

/** A clock of the caller's own may tell fractions of a millisecond; the table keeps none. */
export function whole(ms: number): number {
  return Math.ceil(ms)
}

const MOST_ROWS = 2_147_483_647

function bounded(limit: number): number {
  return Math.min(Math.max(0, limit), MOST_ROWS)
}

/*
 * Postgres keeps no NUL in a text, but any Unicode text may be an id. NUL becomes SOH and `0`, and a SOH that is there
 * already SOH and `1`: other texts stay as they are, and no two become the same.
 */
const ESCAPE = '\u0001'

function safeText<Text extends string | null>(text: Text): Text {
  if (!text?.includes('\0') && !text?.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`) as Text
}

function originalText<Text extends string | null>(text: Text): Text {
  if (!text?.includes(ESCAPE)) return text
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE) as Text
}

/** One result per command, in their order. */
export function decodeAnswers(commands: readonly JournalCommand[], lines: readonly BatchLine[]): JournalResult[] {
  const byCommand = commands.map((): BatchLine[] => [])
  for (const line of lines) byCommand[Number(line.at)]?.push(line)
  return commands.map((command, at) => decodeAnswer(command, byCommand[at] ?? []))
}

function decodeAnswer(command: JournalCommand, lines: readonly BatchLine[]): JournalResult {
  const [line] = lines
  switch (command.do) {
    case 'append':
      return appendResult(line)
    case 'write':
      return line?.answer === 'true'
    case 'claim':
      return lines.map(claimedRow)
    case 'read':
      return line && placedRow(line)
    case 'list':
      return lines.map(placedRow)
    case 'lane':
      return line && originalText(line.answer)
    case 'survey':
      return surveyResult(line?.answer ?? '{"owners":[]}')
    case 'drop':
      return Number(line?.answer ?? 0)
    default:
      return unreachable(command)
  }
}

function appendResult(line: BatchLine | undefined): AppendResult {
  return !line || line.answer === 'true' ? { appended: true } : { appended: false, existing: placedRow(line) }
}

function surveyResult(answer: string): SurveyResult {
  const { owners, nextDueAt } = JSON.parse(answer) as SurveyResult
  return { owners: owners.map(originalText), nextDueAt }
}

function placedRow({ answer, bytes, response_bytes }: BatchLine): PlacedRow {
  const row = JSON.parse(answer) as PlacedRow
  return {
    ...row,
    namespace: originalText(row.namespace),
    key: originalText(row.key),
    id: originalText(row.id),
    name: originalText(row.name),
    lane: originalText(row.lane),
    origin: originalText(row.origin),
    owner: originalText(row.owner),
    body: plainBytes(bytes),
    responseBody: plainBytes(response_bytes),
  }
}

function claimedRow(line: BatchLine): ClaimedRow {
  const row = placedRow(line) as ClaimedRow
  return { ...row, previousOwner: originalText(row.previousOwner) }
}

/** Without Node's Buffer around them, as every journal hands bytes out. */
function plainBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
