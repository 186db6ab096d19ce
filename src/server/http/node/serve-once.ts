import type { IncomingMessage } from 'node:http'
import { ConfigurationError } from '../../../errors/classes.ts'
import type { LedgerGuard } from '../../guard/begin.ts'
import { NodeExchange } from './node-exchange.ts'
import { nodeInbound, targetOf } from './node-request.ts'
import { handlersBehind, isError, type NextFunction, type RouteHandler } from './route-handlers.ts'
import { sendAnswer } from './send-answer.ts'
import { rejectRequest, type Served } from './served.ts'

const served = new WeakSet<IncomingMessage>()

/** Asks the ledger, and serves the request if its handlers may run. Never rejects. */
export async function serveOnce(
  guard: LedgerGuard,
  given: Served,
  serve: (exchange: NodeExchange) => unknown,
): Promise<void> {
  const { req, res } = given
  try {
    if (served.has(req)) throw servedTwice(req)
    served.add(req)
    const begun = await guard.begin(nodeInbound(req, guard.maxRequestBytes))
    if (begun.kind === 'answered') return sendAnswer(res, begun.answer)
    await serve(new NodeExchange(given, begun.session, guard.maxResponseBytes))
  } catch (error) {
    // The caller has hung up before the end of its request: there is no answer to send.
    if (!(req.destroyed && !req.complete)) rejectRequest(given, error)
  }
}

/** The second one would find the key of its own request in flight, and refuse it. */
function servedTwice(req: IncomingMessage): ConfigurationError {
  return new ConfigurationError(
    `The ledger is asked twice about one request (${req.method} ${targetOf(req).path}): keep one idempotent() or nodeHandler() on its way, ` +
      'in app.use(), in a router or in the route',
  )
}

/** `next` is the router's, which `res.render` and `res.sendFile` call with their errors. */
type Req = IncomingMessage & { next?: NextFunction }

/** Runs one handler; what it leaves to `next` is done by the framework. */
export function serveHandler(exchange: NodeExchange, req: Req, handle: (next: NextFunction) => unknown): Promise<void> {
  watchRouterNext(exchange, req)
  return exchange.run(handle, exchange.next)
}

/**
 * Runs the handlers behind the middleware `own`, one after the other, as far as they stand in the same route; the
 * framework runs the others.
 */
export function serveBehind(exchange: NodeExchange, { req, res }: Served, own: unknown): void {
  const handlers = handlersBehind(req, own)
  if (handlers) watchRouterNext(exchange, req)
  const runFrom =
    (at: number): NextFunction =>
    (said) => {
      const handler = handlers?.[at]
      if (said) exchange.next(said)
      // All of them have run: Express skips them.
      else if (!handler) exchange.next(handlers && 'route')
      else void exchange.run((next) => (handler as RouteHandler)(req, res as never, next), runFrom(at + 1))
    }
  runFrom(0)()
}

function watchRouterNext(exchange: NodeExchange, req: Req): void {
  const { next } = req
  if (next) req.next = (said) => (isError(said) ? exchange.pass(said, next) : next(said))
}
