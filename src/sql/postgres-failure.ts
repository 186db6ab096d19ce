import { StorageError } from '../errors/classes.ts'

/** By the beginning of the error's code; the first match wins. Each says what happened and what to do. */
const SENTENCES: readonly (readonly [code: string, sentence: string])[] = [
  ['ECONNREFUSED', 'cannot be reached: the connection was refused'],
  ['ENOTFOUND', 'cannot be reached: its host has no address'],
  ['EAI_AGAIN', 'cannot be reached: the name of its host could not be looked up'],
  ['ETIMEDOUT', 'cannot be reached: the connection timed out'],
  ['ECONNRESET', 'lost the connection'],
  ['EPIPE', 'lost the connection'],
  ['28', 'refused the user or the password'],
  ['3D000', 'cannot be used: there is no such database'],
  ['42501', 'cannot be used: the role lacks the permission'],
  ['25006', 'cannot be written: the server is read-only, as a standby is. Connect to the primary'],
  ['40001', 'could not serialize this transaction with another one. It was rolled back and may be tried again'],
  ['40P01', 'ran into a deadlock. The transaction was rolled back and may be tried again'],
  ['55P03', 'is locked by a transaction that is still open'],
  ['57014', 'cancelled the statement: it took longer than statement_timeout allows'],
  ['25P03', 'ended the transaction: it was idle for longer than idle_in_transaction_session_timeout allows'],
  ['53300', 'has too many connections: raise max_connections, or make the pools smaller'],
  ['53100', 'cannot grow: its disk is full'],
  ['53200', 'is out of memory'],
  ['57P03', 'is starting up or shutting down'],
  ['57P0', 'ended the connection'],
  ['08', 'lost the connection'],
  ['54000', 'cannot keep this key: scope and key together are too long for an index'],
  ['22021', 'cannot keep a text with a NUL character'],
]

/** Raised where no standby has to confirm a commit, see `synchronous-standby.ts`. Its message is a sentence without a subject. */
export const NO_STANDBY_CODE = 'HF003'

/** A place in one of our tables that is taken: no key of the caller's. */
const TAKEN_PLACE = /holdfast_\w+_pkey/

const BEHIND =
  'cannot give a new row its place: the sequence of the table is behind its rows, as after a cutover by logical ' +
  'replication. Nothing was written: set the sequence to the highest place by setval, as the runbook says'

/** PgBouncer's code for all that it refuses: only its own words say what that is. */
const REFUSED_BY_POOLER = '08P01'

/** The driver's messages for a client without a connection. */
const LOST = /connection terminated|not queryable|client was closed|connection ended/i

/** The transaction is committed on this server, see `synchronous-standby.ts`. */
const UNREPLICATED = /committed without a synchronous standby/

/** What the driver itself says has no code. */
const WORDS: readonly (readonly [words: RegExp, sentence: string])[] = [
  [/after calling end on the pool/i, 'cannot be used: the pool has been ended'],
  [/timeout exceeded when trying to connect/i, 'cannot be reached: no connection became free in time'],
  [/timeout expired|query read timeout/i, 'did not answer in time'],
  [LOST, 'lost the connection'],
  [
    UNREPLICATED,
    'committed without a synchronous standby: the wait for it was cancelled, or synchronous_standby_names was emptied ' +
      'meanwhile. A failover may lose what was committed',
  ],
]

/** Every failure of the store as one StorageError: a sentence, and the driver's own error as its cause. */
export function postgresFailure(error: unknown, subject: string): StorageError {
  if (error instanceof StorageError) return error
  const code = postgresCode(error)
  const detail = error instanceof Error ? error.message : String(error)
  const sentence =
    (code === NO_STANDBY_CODE && `${detail}. The option \`requireSynchronousStandby\` is true`) ||
    (code === '23505' && TAKEN_PLACE.test(detail) && BEHIND) ||
    (code && code !== REFUSED_BY_POOLER && SENTENCES.find(([start]) => code.startsWith(start))?.[1]) ||
    WORDS.find(([words]) => words.test(detail))?.[1]
  const suffix = code ? ` (${code})` : ''
  const text = sentence ? `${subject} ${sentence}${suffix}` : `${subject} failed: ${detail}${suffix}`
  return new StorageError(text, { cause: error, effect: UNREPLICATED.test(detail) ? 'unknown' : 'none' })
}

/** SQLSTATE, or the platform's code of a broken connection; empty where there is none. */
export function postgresCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  if (code !== undefined) return String(code)
  // A host with several addresses fails once for each.
  const [first] = (error as { errors?: readonly unknown[] } | null)?.errors ?? []
  return first === undefined ? '' : postgresCode(first)
}

/** Did the driver refuse or lose a statement because its connection is gone? */
export function isLostConnection(error: unknown): boolean {
  return postgresCode(error) === '25P03' || (error instanceof Error && LOST.test(error.message))
}

/** The server has answered, and the answer is that nothing was done: the same statement may succeed a moment later. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(postgresCode(error))
}

/** Did the server itself say that the statement failed, on a connection that goes on? */
export function isAnswered(error: unknown): boolean {
  const code = postgresCode(error)
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code) && code !== '25P03' && code !== 'EPIPE'
}

/** Did a row, a table or an advisory lock that another transaction holds make the statement fail? */
export function isHeldError(error: unknown): boolean {
  return postgresCode(error) === '55P03'
}
