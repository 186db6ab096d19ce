import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EffectReturn } from '../../entry/reply.ts'
import { type GuardedLedger, guardOf, type LedgerGuard } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/guard-options.ts'
import type { Idempotent } from './node-handler.ts'
import type { NextFunction } from './route-handlers.ts'
import { serveBehind, serveHandler, serveOnce } from './serve-once.ts'

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

/** A request of Express names the type of its response. */
type ResponseOf<Req> = Req extends { readonly res?: infer Res } ? ServerResponse & Res : ServerResponse

/**
 * A handler of Express whose work is done once per key.
 *
 * @example
 * app.post('/charges', idempotent(ledger, async (req, res) => { await req.idempotency.effect((tx) => …) }))
 */
export function idempotent<
  Tx,
  Returned,
  Native,
  Req extends IncomingMessage & Native = IncomingMessage & Native,
  Res extends ServerResponse = ResponseOf<Req>,
>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  handler: (req: Idempotent<Req, NoInfer<Tx>, NoInfer<Returned>>, res: Res, next: NextFunction) => unknown,
  options?: ProtectOptions,
): (req: Req, res: Res, next: NextFunction) => void
/**
 * Middleware that has the work of the handlers behind it done once per key: at a route, in a router or in the whole
 * app. At a route, the middleware sees what the handlers throw and when they end; elsewhere it sees only the response.
 *
 * @example
 * app.post('/charges', idempotent(ledger), async (req, res) => { await req.idempotency.effect((tx) => …) })
 */
export function idempotent<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  options?: ProtectOptions,
): (req: IncomingMessage & Native, res: ServerResponse, next: NextFunction) => void
export function idempotent<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  first?: Handler | ProtectOptions,
  options?: ProtectOptions,
): (req: IncomingMessage & Native, res: ServerResponse, next: NextFunction) => void {
  if (typeof first !== 'function') return protectBehind(guardOf(ledger, first) as LedgerGuard)
  const guard = guardOf(ledger, options) as LedgerGuard
  return (req, res, next) =>
    void serveOnce(guard, { req, res, next, onError: next }, (exchange) => {
      Object.assign(req, { idempotency: exchange.context })
      return serveHandler(exchange, req, (inner) => first(req as never, res as never, inner))
    })
}

type Handler = (req: never, res: never, next: NextFunction) => unknown

function protectBehind(guard: LedgerGuard): (req: IncomingMessage, res: ServerResponse, next: NextFunction) => void {
  return function protect(req, res, next) {
    const given = { req, res, next, onError: next }
    void serveOnce(guard, given, (exchange) => {
      Object.assign(req, { idempotency: exchange.context })
      serveBehind(exchange, given, protect)
    })
  }
}
