import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkFunction } from '../../../configuration/option-checks.ts'
import { ConfigurationError } from '../../../errors/classes.ts'
import { inboundContext } from '../../../foundation/inbound-context.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import { type GuardedLedger, guardOf, type LedgerGuard } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/guard-options.ts'
import { contextOf, type RetryContextOptions } from '../retry-context.ts'
import type { NextFunction } from './route-handlers.ts'
import { serveHandler, serveOnce } from './serve-once.ts'

/** A request with the context of its handler, which comes first: it wins over one that the request's type declares. */
export type Idempotent<Req, Tx = unknown, Returned = EffectReturn> = {
  readonly idempotency: IdempotencyContext<Tx, Returned>
} & Req

export interface NodeHandlerOptions extends ProtectOptions {
  /** Called with what a handler throws where there is no `next`. Default: a warning of the process. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * A handler of `node:http`, or of a route in Express or Connect, that does its work once per key. Its answer is buffered
 * until it is recorded. Returns `effect`'s reply or a `Response`, or answers by `res` as usual; where it used `effect`,
 * that reply is what is sent.
 *
 * @example
 * createServer(nodeHandler(ledger, (req) => req.idempotency.effect((tx) => …)))
 */
export function nodeHandler<
  Tx,
  Returned,
  Native,
  Req extends IncomingMessage & Native = IncomingMessage & Native,
  Res extends ServerResponse = ServerResponse,
>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  handler: (req: Idempotent<Req, NoInfer<Tx>, NoInfer<Returned>>, res: Res, next: NextFunction) => unknown,
  options: NodeHandlerOptions = {},
): (req: Req, res: Res, next?: NextFunction) => Promise<void> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('nodeHandler() needs a handler: nodeHandler(ledger, (req, res) => …, options)')
  }
  const guard = guardOf(ledger, options, { onError: checkFunction }) as LedgerGuard
  const { onError = warn } = options
  return (req, res, next) =>
    serveOnce(guard, { req, res, next, onError }, (exchange) => {
      const idempotency = exchange.context as IdempotencyContext<Tx, Returned>
      return serveHandler(exchange, req, (inner) => handler(Object.assign(req, { idempotency }), res, inner))
    })
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

export type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/**
 * Serves each request inside its retry context: middleware for Express and Connect, and for `node:http` with the
 * listener as `next`.
 *
 * ```ts
 * app.use(nodeRetryContext())
 * ```
 */
export function nodeRetryContext(options: RetryContextOptions<IncomingMessage> = {}): NodeMiddleware {
  return (request, _response, next) => {
    const context = contextOf(request, options)
    // Events of a body that arrives later are emitted outside of the context: their listeners run inside all the same.
    const { emit } = request
    request.emit = (...event: Parameters<typeof emit>) => inboundContext.run(context, () => emit.apply(request, event))
    inboundContext.run(context, next)
  }
}
