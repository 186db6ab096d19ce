import type { MiddlewareHandler } from 'hono'
import { type RetryContextOptions, serveWithin } from '../../guard/serve-within.ts'

/**
 * Serves each request inside its retry context.
 *
 * ```ts
 * app.use(honoRetryContext())
 * ```
 */
export function honoRetryContext(options: RetryContextOptions = {}): MiddlewareHandler {
  return (context, next) => serveWithin(context.req.raw, next, options)
}
