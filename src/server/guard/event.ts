import type { RefusalReason } from '../admission/refusal.ts'

interface Told {
  /** Epoch milliseconds. */
  readonly at: number
}
interface OfEntry extends Told {
  readonly scope: string
  readonly key: string
  readonly method: string
  readonly path: string
}

/** Everything that a ledger tells. One closed union, past tense. No event carries a header, a query or a body. */
export type LedgerEvent =
  | (OfEntry & { readonly type: 'entry.claimed'; readonly attempt: number; readonly takenOver: boolean })
  | (OfEntry & { readonly type: 'entry.recorded'; readonly status: number; readonly bodyOmitted: boolean })
  | (OfEntry & { readonly type: 'entry.replayed'; readonly status: number })
  | (OfEntry & { readonly type: 'entry.released'; readonly status: number | undefined; readonly error?: unknown })
  | (OfEntry & { readonly type: 'entry.abandoned'; readonly status?: number | undefined; readonly error?: unknown })
  | (OfEntry & { readonly type: 'claim.lost' })
  /** The handler threw after its effect had been committed, or after its answer: what is recorded was sent all the same. */
  | (OfEntry & { readonly type: 'handler.failed'; readonly error: unknown })
  | (Told & {
      readonly type: 'request.refused'
      readonly reason: RefusalReason
      readonly method: string
      readonly path: string
      /** Undefined where the request was refused before it was known. */
      readonly scope: string | undefined
      readonly key: string | undefined
    })
  | (Told & { readonly type: 'ledger.failed'; readonly error: unknown })

export type ObserveLedger = (event: LedgerEvent) => void
