import { channel } from 'node:diagnostics_channel'
import type { Observer } from '../port.ts'

/** The names of the channels. */
export const CLIENT_CHANNEL = 'holdfast:client'
export const LEDGER_CHANNEL = 'holdfast:ledger'

const ofClients = channel(CLIENT_CHANNEL)
const ofLedgers = channel(LEDGER_CHANNEL)

/**
 * Publishes each event of a client on the channel `holdfast:client`.
 *
 * @example createClient({ observe: publishEvent })
 */
export const publishEvent: Observer = (event) => ofClients.publish(event)

/**
 * Publishes each event of a ledger on the channel `holdfast:ledger`.
 *
 * @example createLedger({ store, scope, observe: publishLedgerEvent })
 */
export function publishLedgerEvent(event: { readonly type: string; readonly at: number }): void {
  ofLedgers.publish(event)
}
