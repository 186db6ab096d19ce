import type { HeaderList } from '../../protocol/headers.ts'

/** One request as it left a process. */
export interface Sent {
  /** Counts the requests of a history. */
  readonly number: number
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  /** The idempotency key that it carries. */
  readonly key: string
  /** The logical operation, read from its bytes. */
  readonly label: string
  /** Whose cookies it has, where people log in. */
  readonly user: string | undefined
}

export interface WireAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: string
}

/** How a server takes a request: an answer, or a cut connection. It may never call back. */
export type Reply = (answer: WireAnswer | 'reset') => void

/** The other end of the wire. */
export interface WireServer {
  /** False: the connection is refused. */
  listens(): boolean
  receive(sent: Sent, reply: Reply): void
  /** An outage: connections are refused for so long. */
  stopFor(ms: number): void
  /** By then it is back from every outage and freeze, if it does not come back for the end of a history by itself. */
  readonly backAt?: number
  /** How often each operation took effect, and by which requests. */
  effects(): readonly Effect[]
  /** What the server's own record has to show at the end of a history. */
  judgeEnd?(): Promise<void>
}

/** Something was done for good. */
export interface Effect {
  readonly key: string
  readonly label: string
  /** The number of the request that did it; undefined where a server of one's own does not say. */
  readonly sent: number | undefined
  readonly at: number
}
