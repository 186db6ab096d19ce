import { startBackgroundTimer, systemClock } from '../../../foundation/clock.ts'
import { nodeDigest } from '../../../foundation/node-digest.ts'
import type { PostgresListener } from '../../../sql/postgres-driver.ts'
import type { PeerMessage } from '../../coordination/port.ts'

/** Messages wait this long for others, so that a busy process sends a few notes a second, not thousands. */
const GATHER_MS = 25
/** What is more than this in one note is left to the polls of the receivers. */
const MOST_MESSAGES = 50
/** Postgres takes no longer payload. */
const LONGEST_PAYLOAD_BYTES = 7900
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/**
 * Hints between the processes on one journal, by LISTEN and NOTIFY on a connection of its own. What they save is the time
 * until the next poll: where there is no such connection (a pooler stands between, too many connections) nothing is lost.
 *
 * Notes are sent outside of the writing transactions: a commit with a NOTIFY in it waits for every other such commit of
 * the whole database.
 */
export class PeerChannel {
  readonly #open: () => Promise<PostgresListener | undefined>
  readonly #name: string
  readonly #listeners = new Set<(message: PeerMessage) => void>()
  #gathered: PeerMessage[] = []
  #connection: PostgresListener | undefined
  /** A pooler is at the other end of this one. */
  #pooled: PostgresListener | undefined
  #isStarted = false
  #isSending = false
  #cancelSend: (() => void) | undefined
  #cancelRetry: (() => void) | undefined

  constructor(open: () => Promise<PostgresListener | undefined>, schema: string) {
    this.#open = open
    // A name of at most 63 characters for a schema of any name.
    this.#name = `holdfast_journal_${(nodeDigest([schema], null) as string).slice(0, 16)}`
  }

  /** Connects in the background. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    void this.#connect(FIRST_RETRY_MS)
  }

  onMessage(listener: (message: PeerMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The level of an origin is that of one machine: it is not for the fleet. */
  notify(message: PeerMessage): void {
    if (!this.#connection || message.is === 'level') return
    if (this.#gathered.length < MOST_MESSAGES) this.#gathered.push(message)
    if (this.#gathered.length === 1 && !this.#isSending) this.#sendSoon()
  }

  async close(): Promise<void> {
    this.#isStarted = false
    this.#cancelSend?.()
    this.#cancelRetry?.()
    this.#gathered = []
    const connection = this.#connection
    this.#connection = undefined
    await connection?.end().catch(() => {})
  }

  async #connect(retryMs: number): Promise<void> {
    const connection = await this.#open().catch(() => undefined)
    if (!connection) return
    const lose = once(() => this.#lose(connection, retryMs))
    connection.on('error', lose)
    connection.on('end', lose)
    connection.on('notification', ({ payload }) => this.#receive(payload))
    try {
      await connection.connect()
      connection.unref?.()
      // The journal may have been closed in the meantime.
      if ((await this.#listen(connection)) && this.#isStarted) this.#connection = connection
      else await connection.end()
    } catch {
      lose()
      await connection.end().catch(() => {})
    }
  }

  /** A connection that has listened is replaced soon; one that never did, later each time; one behind a pooler, never. */
  #lose(connection: PostgresListener, retryMs: number): void {
    const hasListened = this.#connection === connection
    if (hasListened) this.#connection = undefined
    if (!this.#isStarted || connection === this.#pooled) return
    const [delay, next] = hasListened ? [FIRST_RETRY_MS, FIRST_RETRY_MS] : [retryMs, retryMs * 2]
    const again = (): void => void this.#connect(Math.min(next, LONGEST_RETRY_MS))
    this.#cancelRetry = startBackgroundTimer(systemClock, delay, again)
  }

  /** False where another process answers than the one that was connected to: a pooler, behind which nothing is heard. */
  async #listen(connection: PostgresListener): Promise<boolean> {
    const { rows } = await connection.query('SELECT pg_backend_pid()::text AS pid')
    const isDirect = (rows[0] as { readonly pid: string }).pid === String(connection.processID)
    if (!isDirect) this.#pooled = connection
    // A hint need not survive a loss of power.
    else await connection.query(`SET synchronous_commit = off; LISTEN ${this.#name}`)
    return isDirect
  }

  #sendSoon(): void {
    this.#cancelSend = startBackgroundTimer(systemClock, GATHER_MS, () => void this.#send())
  }

  /** One note at a time: on a connection that is silent they would pile up, and the driver warns of a second statement. */
  async #send(): Promise<void> {
    const payload = JSON.stringify(this.#gathered.splice(0))
    if (Buffer.byteLength(payload) > LONGEST_PAYLOAD_BYTES) return
    this.#isSending = true
    await this.#connection?.query('SELECT pg_notify($1, $2)', [this.#name, payload]).catch(() => {})
    this.#isSending = false
    if (this.#gathered.length > 0) this.#sendSoon()
  }

  /** Also from here: several clients of a process may share the journal. */
  #receive(payload: string | undefined): void {
    for (const message of messagesIn(payload ?? '')) for (const listener of [...this.#listeners]) listener(message)
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}

/** Any role of the database may notify any channel. */
function messagesIn(payload: string): readonly PeerMessage[] {
  try {
    const messages: unknown = JSON.parse(payload)
    if (!Array.isArray(messages)) return []
    return messages.filter((one: Partial<PeerMessage> | null) => typeof one?.key === 'string' && one.is !== 'level')
  } catch {
    return []
  }
}
