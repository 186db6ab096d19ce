import type { ParsedBody } from '../../protocol/fingerprint.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** A request in plain values. `Native` is the framework's own request, for `scope` and `authorize`. */
export interface Inbound<Native = unknown> {
  readonly native: Native
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly headers: HeaderList
  /** Called after `authorize`, and only for requests with a key. */
  readonly body: () => InboundBody | Promise<InboundBody>
}

/** The bytes as they came, or what a body parser in front of the ledger has made of them. */
export type InboundBody = Uint8Array | ParsedBody | null

/** An answer in plain values. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  /** Null where there is none, and where it is streamed: then the adapter sends it itself. */
  readonly body: Uint8Array | null
}

/** An answer whose body is too large to buffer, or has no end: sent as it comes, and recorded without its body. */
export interface StreamedAnswer extends Answer {
  readonly streamed: true
}

/**
 * The handler is still at work although an answer is sent in its place, as by a framework's timeout: resolves when it has
 * ended, with the answer that it gave after all, or with undefined.
 */
export type LateAnswer = Promise<Answer | undefined>

export interface Failure {
  /** What the framework has made of the error, if the adapter knows it. */
  readonly answer?: Answer | undefined
  readonly late?: LateAnswer | undefined
  /**
   * In place of `late`, if the adapter does not see whether the handler is still at work: the failure, that of a timeout
   * for example, is no proof that the handler has ended. This answer is awaited for one lease, which then lapses.
   */
  readonly unseen?: LateAnswer | undefined
}
