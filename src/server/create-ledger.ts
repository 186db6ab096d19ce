import { hash } from 'node:crypto'
import { framed } from '../foundation/digest.ts'
import { composeLedger } from './compose-ledger.ts'
import { decodeBody } from './decode-body.ts'
import type { EffectReturn } from './entry/reply.ts'
import type { Ledger, LedgerOptions } from './ledger.ts'

/**
 * The server half: a key is claimed before the handler runs, and its answer is committed together with the effect.
 *
 * @example
 * const ledger = createLedger({ store: sqliteLedger({ database }), scope: (request) => accountOf(request) })
 * const handler = ledger.protect(async (request, { effect }) => effect((tx) => { …; return json({ ok: true }) }))
 */
export function createLedger<Tx, Returned = EffectReturn>(
  options: LedgerOptions<Tx, Returned, unknown> & { readonly scope: string; readonly authorize?: undefined },
): Ledger<Tx, Returned, unknown>
export function createLedger<Tx, Returned = EffectReturn, Native = Request>(
  options: LedgerOptions<Tx, Returned, Native>,
): Ledger<Tx, Returned, Native>
export function createLedger<Tx, Returned, Native>(
  options: LedgerOptions<Tx, Returned, Native>,
): Ledger<Tx, Returned, Native> {
  const digest = (texts: readonly string[], bytes: Uint8Array | null): string =>
    hash('sha256', framed(texts, bytes), 'hex')
  return composeLedger({ digest, decodeBody, warn }, options)
}

/** Each sentence once for the whole process: a service may have several ledgers. */
const warned = new Set<string>()

function warn(sentence: string): void {
  if (warned.has(sentence)) return
  warned.add(sentence)
  process.emitWarning(sentence, { type: 'HoldfastWarning' })
}
