import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type InboundContext, inboundContext } from '../../../foundation/inbound-context.ts'
import { contextOf, type RetryContextOptions } from '../../guard/serve-within.ts'

/**
 * Serves each request of the whole app inside its retry context.
 *
 * ```ts
 * await app.register(fastifyRetryContext)
 * ```
 */
export function fastifyRetryContext(app: FastifyInstance, options: RetryContextOptions, done: () => void): void {
  const contexts = new WeakMap<FastifyRequest, InboundContext>()
  app.addHook('onRequest', (request, _reply, next) => {
    const context = contextOf(request, options)
    contexts.set(request, context)
    inboundContext.run(context, next)
  })
  // Between the two the body was parsed, and its events come from outside.
  app.addHook('preValidation', (request, _reply, next) => {
    const context = contexts.get(request)
    if (context) inboundContext.run(context, next)
    else next()
  })
  done()
}

// Not for an encapsulated part alone: what is registered with it is meant for the app.
Object.assign(fastifyRetryContext, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast-retry-context',
})
