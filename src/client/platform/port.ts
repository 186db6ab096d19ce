import type { Digest } from '../../foundation/digest.ts'
import type { InboundContext } from '../../foundation/inbound-context.ts'
import type { Coordination } from '../coordination/port.ts'
import type { Journal } from '../journal/port.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { Transport } from '../transport/port.ts'

/** What a browser and a Node service do differently. */
export interface Platform {
  /** Are the optional request headers sent by default? Not where every name needs a place in a server's CORS list. */
  readonly sendHeaders: boolean
  /** Where the page, or the script of the worker, came from: relative URLs belong there. */
  pageOrigin?(): string | undefined
  readonly digest: Digest
  defaultJournal(): Journal
  transport(options: Pick<ResolvedOptions, 'fetch' | 'dispatcher'>): Transport
  coordination(): Coordination
  /** Where requests are served: what the one being served asks of the calls made for it. */
  inboundContext?(): InboundContext | undefined
  /** One line for a developer; says nothing in production. */
  warn?(sentence: string): void
  /** Runs work outside of that context: background work must not inherit a request's deadline. */
  outside?<T>(work: () => T): T
}
