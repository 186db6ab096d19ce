import type { Begun } from '../guard/begin.ts'
import type { ProtectOptions } from '../guard/protect-options.ts'
import type { Session } from '../guard/session.ts'
import type { Answer, Inbound } from './port.ts'

/** What an adapter needs of a ledger. `Native` is the request that its `scope` and `authorize` are asked about. */
export interface GuardingLedger<Tx, Returned, Native> {
  readonly begin: (inbound: Inbound<Native>, options?: ProtectOptions) => Promise<Begun<Tx, Returned>>
  readonly limits: { readonly maxRequestBytes: number; readonly maxResponseBytes: number }
}

/** The same where the types of its transactions do not matter. */
export interface AnyGuardingLedger<Native> {
  readonly begin: (
    inbound: Inbound<Native>,
    options?: ProtectOptions,
  ) => Promise<
    { readonly kind: 'answered'; readonly answer: Answer } | { readonly kind: 'run'; readonly session: Session }
  >
  readonly limits: GuardingLedger<unknown, unknown, Native>['limits']
}
