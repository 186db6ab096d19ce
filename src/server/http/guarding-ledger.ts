import type { Begun } from '../guard/begin.ts'
import type { ProtectOptions } from '../guard/protect-options.ts'
import type { Inbound } from './port.ts'

/** What an adapter needs of a ledger. `Native` is the request that its `scope` and `authorize` are asked about. */
export interface GuardingLedger<Tx, Returned, Native> {
  readonly begin: (inbound: Inbound<Native>, options?: ProtectOptions) => Promise<Begun<Tx, Returned>>
  readonly limits: { readonly maxRequestBytes: number; readonly maxResponseBytes: number }
}
