import type { AbortLike } from '../../foundation/abort.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { CredentialsMode } from '../operation/record.ts'

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
  /** Where the body is longer than `bodyLimit` or is an event stream: all of it, from the first byte, as a stream. `body` is then null. */
  readonly rest?: ReadableStream<Uint8Array> | undefined
  /** The final URL, after redirects. */
  readonly url: string
  readonly redirected: boolean
}

/** No usable answer. */
export interface TransportFault {
  readonly kind: 'fault'
  /** A short stable word: an errno such as `ECONNREFUSED`, or `aborted`, `untrusted-redirect`, `headers-overflow`, `network`. */
  readonly code: string
  /** Can any byte of the request have reached the server? `false` only where that is certain. */
  readonly mayHaveArrived: boolean
  /** Where the head of an answer arrived and only its body did not. */
  readonly head?: { readonly status: number; readonly headers: HeaderList } | undefined
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
  close?(): Promise<void>
}
