import type { IncomingMessage, ServerResponse } from 'node:http'
import { inboundContext } from '../../../foundation/inbound-context.ts'
import { contextOf, type RetryContextOptions } from '../../guard/serve-within.ts'

export type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/**
 * Serves each request inside its retry context: middleware for Express and Connect, and for `node:http` with the
 * listener as `next`.
 *
 * ```ts
 * app.use(nodeRetryContext())
 * ```
 */
export function nodeRetryContext(options: RetryContextOptions = {}): NodeMiddleware {
  return (request, _response, next) => {
    const context = contextOf(request, options)
    // A body that arrives later is told from outside: who listens for it is to find itself inside all the same.
    const { emit } = request
    request.emit = (...event: Parameters<typeof emit>) => inboundContext.run(context, () => emit.apply(request, event))
    inboundContext.run(context, next)
  }
}
