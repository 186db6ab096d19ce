import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError } from '../../../errors/classes.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import { type GuardedLedger, guardOf, type LedgerGuard } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/guard-options.ts'
import { serveOnce } from './node-exchange.ts'
import { isInExpress, type NextFunction } from './watch-handlers.ts'

/**
 * To be filled in by the application, which gives `req.idempotency` the transactions of its ledger.
 *
 * @example
 * declare module 'holdfast/server/express' {
 *   interface Register { ledger: typeof ledger }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by the application
export interface Register {}

/** Where no ledger is registered, a handler declares the type of `tx` itself: `effect((tx: Database) => …)`. */
export type RegisteredContext = Register extends { ledger: GuardedLedger<infer Tx, infer Returned, never> }
  ? IdempotencyContext<Tx, Returned>
  : IdempotencyContext<never, EffectReturn>

declare global {
  // As @types/express asks for; without that package it is a namespace of its own.
  namespace Express {
    interface Request {
      /** Behind `idempotent()`. */
      idempotency: RegisteredContext
    }
  }
}

/**
 * Middleware for Express that has the work of the handlers behind it done once per key: at a route, in a router or in the
 * whole app.
 *
 * @example
 * app.post('/charges', idempotent(ledger), async (req, res) => { await req.idempotency.effect((tx) => …) })
 */
export function idempotent<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  options: ProtectOptions = {},
): (req: IncomingMessage & Native, res: ServerResponse, next: NextFunction) => void {
  if (typeof options === 'function') {
    throw new ConfigurationError(
      "idempotent() takes no handler, which stands behind it: app.post('/charges', idempotent(ledger), handler)",
    )
  }
  const guard = guardOf(ledger, options) as LedgerGuard
  return (req, res, next) => {
    if (!isInExpress(req)) return next(notInExpress())
    void serveOnce(guard, { req, res, next, onError: next }, ({ context }) => {
      Object.assign(req, { idempotency: context })
      next()
    })
  }
}

/** Other routers would answer for what a handler throws without telling: an external key could be freed by accident. */
function notInExpress(): ConfigurationError {
  return new ConfigurationError(
    'idempotent() runs in routers of Express only: use nodeHandler(ledger, handler) of holdfast/server/node elsewhere',
  )
}
