import type { FastifyInstance } from 'fastify'
import { type RetryContextOptions, serveWithin } from '../../guard/serve-within.ts'

/**
 * Serves each request of the whole app inside its retry context.
 *
 * ```ts
 * await app.register(fastifyRetryContext)
 * ```
 */
export function fastifyRetryContext(app: FastifyInstance, options: RetryContextOptions, done: () => void): void {
  // Fastify itself carries it over the reading of the body.
  app.addHook('onRequest', (request, _reply, next) => serveWithin(request, next, options))
  done()
}

// Not for an encapsulated part alone: it acts on the app, as fastify-plugin has it.
Object.assign(fastifyRetryContext, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast-retry-context',
})
