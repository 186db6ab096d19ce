import type { ParsedBody } from '../../protocol/fingerprint.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** A request as plain values, whatever the framework. `Native` is the framework's own, for `scope` and `authorize`. */
export interface Inbound<Native = unknown> {
  readonly native: Native
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly headers: HeaderList
  /** Read only where it is needed: after the caller was let in, and only for requests with a key. */
  readonly body: () => InboundBody | Promise<InboundBody>
}

/** The bytes as they came, or what a parser that stood before us has made of them. */
export type InboundBody = Uint8Array | ParsedBody | null

/** What goes out. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  /** Null where there is none, and where it was too large to be held: then the adapter passes it on by itself. */
  readonly body: Uint8Array | null
}

/** An answer whose body was too large to hold, or has no end: it is sent as it comes, and kept without it. */
export interface UnheldAnswer extends Answer {
  readonly unheld: true
}
