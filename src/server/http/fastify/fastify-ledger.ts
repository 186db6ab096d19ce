import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { ConfigurationError } from '../../../errors/classes.ts'
import { type EffectReturn, isReply } from '../../entry/reply.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/protect-options.ts'
import type { AnyGuardingLedger } from '../guarding-ledger.ts'
import type { Answer } from '../port.ts'
import { type Exchange, headersOf, replaceBy, settle } from './fastify-answer.ts'
import { fastifyInbound } from './fastify-inbound.ts'

export interface FastifyLedgerOptions {
  readonly ledger: AnyGuardingLedger<FastifyRequest>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What a handler knows of the operation that it serves. It says itself what `tx` is: `effect((tx: Database) => …)`. */
    idempotency: IdempotencyContext<never, EffectReturn>
  }
  interface FastifyContextConfig {
    /** What is said of this route alone; `false` leaves it unprotected. */
    idempotency?: false | ProtectOptions
  }
}

/** In the configuration of a route: our hook stands behind all of the route's own. */
const HOOKED = Symbol('holdfast.hooked')

/**
 * Does the work of all handlers of an app once per key.
 *
 * @example await app.register(fastifyLedger, { ledger })
 */
export function fastifyLedger(app: FastifyInstance, { ledger }: FastifyLedgerOptions, done: () => void): void {
  const exchanges = new WeakMap<FastifyRequest, Exchange>()
  const answers = new WeakMap<FastifyRequest, Answer>()
  const { maxRequestBytes, maxResponseBytes: limit } = ledger.limits

  const begin = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { idempotency } = request.routeOptions.config
    if (idempotency === false || request.is404) return undefined
    const begun = await ledger.begin(fastifyInbound(request, maxRequestBytes), idempotency)
    if (begun.kind === 'answered') {
      answers.set(request, begun.answer)
      return reply.send()
    }
    const { session } = begun
    exchanges.set(request, { session, front: headersOf(reply), limit })
    request.idempotency = session.context as IdempotencyContext<never, EffectReturn>
    return undefined
  }

  app.decorateRequest('idempotency', null as never)
  app.addHook('onRoute', (route) => hookLast(route, begin))
  app.addHook('preHandler', async function holdfastLedger(request, reply) {
    if (HOOKED in request.routeOptions.config) return undefined
    checkThatLast(request)
    return begin(request, reply)
  })
  app.addHook('preSerialization', async (request, reply, payload) => {
    const exchange = exchanges.get(request)
    if (!exchange || !isReply(payload)) return payload
    exchange.reply = payload
    // A schema for answers is not one for replies.
    reply.serializer(() => '')
    return payload
  })
  app.addHook('onError', async (request, _reply, error) => {
    const exchange = exchanges.get(request)
    if (exchange) exchange.error = error
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const answer = answers.get(request)
    if (answer) return replaceBy(reply, headersOf(reply), answer)
    const exchange = exchanges.get(request)
    exchanges.delete(request)
    return exchange ? settle(exchange, reply, payload) : payload
  })
  app.addHook('onResponse', async (request, reply) => {
    // Hijacked, and answered past Fastify: it is done, and nobody has seen what was said.
    const exchange = exchanges.get(request)
    if (!exchange || !reply.raw.writableEnded) return
    exchanges.delete(request)
    await exchange.session.complete({ status: reply.raw.statusCode, headers: [], body: null, unheld: true } as Answer)
  })
  done()
}

type PreHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Behind every other hook of the route: whoever may not ask must be told so before anything is looked up. */
function hookLast(route: RouteOptions, begin: PreHandler): void {
  route.preHandler = [route.preHandler ?? [], begin].flat() as NonNullable<RouteOptions['preHandler']>
  route.config = { ...route.config, [HOOKED]: true } as NonNullable<RouteOptions['config']>
}

/** A route that is older than the plugin has our hook before its own. That is fine only where it has none. */
function checkThatLast(request: FastifyRequest): void {
  const symbol = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'fastify.context')
  const context = symbol && (request as unknown as Record<symbol, { preHandler?: readonly { name: string }[] }>)[symbol]
  if (request.is404 || context?.preHandler?.at(-1)?.name.endsWith('holdfastLedger')) return
  throw new ConfigurationError(
    `The route ${request.routeOptions.url} was added before the ledger was loaded, so that its preHandler hooks would run ` +
      'after the ledger: write `await app.register(fastifyLedger, { ledger })`, or add the route in a plugin',
  )
}

// Not for an encapsulated part alone: what is registered with it is meant for the app.
Object.assign(fastifyLedger, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast-ledger',
})
