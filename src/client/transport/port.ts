import type { AbortLike } from '../../foundation/abort.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { AnswerRest } from '../../protocol/stored-message.ts'
import type { CredentialsMode } from '../operation/record.ts'

export interface FetchArguments {
  readonly input: string | URL | Request
  readonly init: RequestInit
}

/** A call of `client.fetch`: the platform's fetch is given its arguments, and its `Response` comes back unread. */
export interface DropIn {
  /** For the next attempt, without what the attempt itself adds: headers, and a signal where it has one. */
  arguments(): FetchArguments
  /** Can there be arguments for another attempt? Not where the body was a stream. */
  isRepeatable(): boolean
  /** Is it certain from the beginning that there can be none? */
  readonly isOnce: boolean
  /** Those of the caller. */
  readonly headers: Headers
  readonly signal: AbortSignal | undefined
  /** Which signal fetch is given: its caller's alone, or that of the attempt, which has a time limit or other callers. */
  readonly endedBy: 'caller' | 'attempt'
  /** Does it carry an idempotency key? Then what a 409 or a 422 says of the key is read from a copy of the answer. */
  readonly keyed: boolean
}

/** One attempt, ready for the wire. */
export interface TransportRequest {
  readonly method: string
  readonly url: string
  /** Lower-case names. */
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  /** `onAbort` listens to it; `nativeSignal` gives it to a fetch. */
  readonly signal: AbortLike
  /** How much of the answer is read into memory; what is longer comes as a stream in `rest`. */
  readonly bodyLimit: number
  /**
   * Asked for each answer that is no 2xx: calls `cut` when its body was waited for long enough, and gives a function
   * that cancels that. What had arrived by then is the body. Default: until the signal aborts.
   */
  readonly boundBody?: ((status: number, cut: () => void) => () => void) | undefined
  /** As fetch has it. Default 'follow'. */
  readonly redirect: 'follow' | 'error' | 'manual'
  /** For a fetch; undici below fetch has no cookies. */
  readonly credentialsMode?: CredentialsMode | undefined
  /**
   * May a redirect take the request to this origin? Where not, a safe method goes there with `publicHeaders` only, and
   * any other is a fault with code `untrusted-redirect`: a captive portal, say.
   */
  readonly trusts: (origin: string) => boolean
  /** What may be sent to an origin that is not trusted: neither credentials nor anything of the client's own. */
  readonly publicHeaders: HeaderList
  /** Those among `headers` that are the client's own. A redirect takes them to origins that are trusted, and nowhere else. */
  readonly clientHeaders: HeaderList
  /** Was there an attempt of this operation before? Then a cache must not answer in the place of the server. */
  readonly isRepeated?: boolean | undefined
  /** `url`, `body` and `bodyLimit` are then of no account, and `headers` are set over its own. */
  readonly dropIn?: DropIn | undefined
}

/** The answer, headers and body; `body` is complete unless `rest` is there. */
export interface TransportResponse {
  readonly kind: 'response'
  readonly status: number
  readonly statusText: string
  /** Lower-case names. */
  readonly headers: HeaderList
  /** Decompressed, as fetch has it. Null where there was no body. */
  readonly body: Uint8Array | null
  /** Where the body is longer than `bodyLimit` or is an event stream: all of it, from the first byte, as a stream, and `body` is null. For a drop-in the whole answer. */
  readonly rest?: AnswerRest | undefined
  /** The final URL, after redirects. */
  readonly url: string
  readonly redirected: boolean
  /** A redirect (301, 302, 303) turned an unsafe method into a GET: the answer is that of another request. */
  readonly answersGet?: boolean | undefined
  /** The dispatcher has sent the request before by itself: then that try may have been done, and this answer says nothing of it. */
  readonly mayBeRepeat?: boolean | undefined
}

/** No usable answer. */
export interface TransportFault {
  readonly kind: 'fault'
  /** Short and stable: an errno such as `ECONNREFUSED`, or `aborted`, `untrusted-redirect`, `headers-overflow`, `network`. */
  readonly code: string
  /** Can any byte of the request have reached the server? `false` only where that is certain. */
  readonly mayHaveArrived: boolean
  /** Where the head of an answer arrived and only its body did not. */
  readonly head?:
    | Pick<TransportResponse, 'status' | 'headers' | 'redirected' | 'answersGet' | 'mayBeRepeat'>
    | undefined
  readonly cause: unknown
  /** False where trying again can't help: not a fault of the network but of the program (a bad header, a bug in a custom fetch). */
  readonly transient: boolean
  /** True where trying again soon can't help but much later may: a certificate that can't be trusted. */
  readonly lasting?: boolean | undefined
}

export type TransportOutcome = TransportResponse | TransportFault

/** The seam to the wire. `send` never rejects: what went wrong is a value. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportOutcome>
  /**
   * Does anything answer at the origin of this URL? Asked if the platform says that it is offline, with a request that has
   * nothing of the client's own and changes nothing. Never rejects.
   */
  reaches?(url: string, signal: AbortSignal): Promise<boolean>
  /** How many requests to this origin it carries side by side, if it queues any further one. */
  connectionsTo?(origin: string): number
  close?(): Promise<void>
}
