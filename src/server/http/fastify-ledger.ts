import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { checkObject } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import type { EffectReturn } from '../entry/reply.ts'
import { type GuardedLedger, guardOf, type LedgerGuard } from '../guard/begin.ts'
import type { IdempotencyContext } from '../guard/context.ts'
import type { ProtectOptions } from '../guard/guard-options.ts'
import { formAlreadyRead } from './buffered-body.ts'
import { FastifyExchange } from './fastify-exchange.ts'
import { FastifyOutgoing } from './fastify-outgoing.ts'
import { inboundBody, isMultipart, nodeBody, rawHeaderList, targetOf } from './node/node-request.ts'
import type { Inbound, InboundBody } from './port.ts'
import { type RetryContextOptions, serveWithin } from './retry-context.ts'

export interface FastifyLedgerOptions {
  readonly ledger: GuardedLedger<unknown, never, FastifyRequest>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** A handler declares the type of `tx` itself: `effect((tx: Database) => …)`. */
    idempotency: IdempotencyContext<never, EffectReturn>
  }
  interface FastifyContextConfig {
    /** For this route alone; `false` leaves it unprotected. */
    idempotency?: false | ProtectOptions
  }
}

/** In the configuration of a route: our hook runs after all of the route's own. */
const HOOKED = Symbol('holdfast.hooked')

/**
 * Does the work of all handlers of an app once per key.
 *
 * @example await app.register(fastifyLedger, { ledger })
 */
export async function fastifyLedger(app: FastifyInstance, options: FastifyLedgerOptions): Promise<void> {
  // Thrown in an async function: what a plugin with a callback throws ends the process.
  const { ledger } = checkPlugin(app, options)
  const exchanges = new WeakMap<FastifyRequest, FastifyExchange>()
  const answers = new WeakMap<FastifyRequest, FastifyOutgoing>()

  const begin = async (guard: RouteGuard, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!guard || request.is404) return undefined
    const begun = await guard.begin(fastifyInbound(request, guard.maxRequestBytes))
    if (begun.kind === 'answered') {
      answers.set(request, new FastifyOutgoing(reply, begun.answer))
      return reply.send()
    }
    const { session } = begun
    exchanges.set(request, new FastifyExchange(session, reply, guard.maxResponseBytes))
    request.idempotency = session.context as IdempotencyContext<never, EffectReturn>
    return undefined
  }

  app.decorateRequest('idempotency', null as never)
  app.addHook('onRoute', (route) => {
    const guard = routeGuard(ledger, route.config)
    hookLast(route, (request, reply) => begin(guard, request, reply))
    const { handler } = route
    route.handler = function (request, reply) {
      const handle = (): unknown => handler.call(this, request, reply)
      const exchange = exchanges.get(request)
      return (exchange ? exchange.run(handle) : handle()) as ReturnType<typeof handler>
    }
  })
  app.addHook('preHandler', async function holdfastLedger(request, reply) {
    if (HOOKED in request.routeOptions.config) return undefined
    checkIsLast(request)
    return begin(routeGuard(ledger, request.routeOptions.config), request, reply)
  })
  app.addHook(
    'preSerialization',
    async (request, _reply, payload) => exchanges.get(request)?.takeReply(payload) ?? payload,
  )
  app.addHook('onError', async (request, _reply, error) => {
    answers.get(request)?.fail()
    exchanges.get(request)?.fail(error)
  })
  app.addHook('onSend', async (request, _reply, payload) => {
    const answer = answers.get(request)
    if (answer) return answer.send(payload)
    const exchange = exchanges.get(request)
    return exchange ? exchange.send(payload) : payload
  })
}

/** Undefined where the route is not protected. */
type RouteGuard = LedgerGuard<unknown, never, FastifyRequest> | undefined

function routeGuard(ledger: FastifyLedgerOptions['ledger'], config: FastifyContextConfig = {}): RouteGuard {
  return config.idempotency === false ? undefined : guardOf(ledger, config.idempotency)
}

/** Fastify's own options of a plugin, beside ours. */
const PLUGIN_OPTIONS = ['ledger', 'prefix', 'logLevel', 'logSerializers']

function checkPlugin(app: FastifyInstance, options: FastifyLedgerOptions): FastifyLedgerOptions {
  const ofHandler = ['external', 'reconcile', 'onAbandoned'].find((name) => name in options)
  if (ofHandler) {
    throw new ConfigurationError(
      `The option \`${ofHandler}\` belongs to createLedger(), for all routes, or to a route: ` +
        `config: { idempotency: { ${ofHandler}: … } }`,
    )
  }
  checkObject('fastifyLedger', options, PLUGIN_OPTIONS)
  guardOf(options.ledger)
  if (app.hasRequestDecorator('idempotency')) {
    throw new ConfigurationError('fastifyLedger is registered twice in this app: keep the outer one')
  }
  return options
}

type PreHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** After every other hook of the route: authorization comes before the ledger is asked. */
function hookLast(route: RouteOptions, begin: PreHandler): void {
  route.preHandler = [route.preHandler ?? [], begin].flat() as NonNullable<RouteOptions['preHandler']>
  route.config = { ...route.config, [HOOKED]: true } as NonNullable<RouteOptions['config']>
}

/** A route that was added before the plugin runs our hook before its own hooks. That is right only where it has none. */
function checkIsLast(request: FastifyRequest): void {
  const symbol = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'fastify.context')
  const context = symbol && (request as unknown as Record<symbol, { preHandler?: readonly { name: string }[] }>)[symbol]
  if (request.is404 || context?.preHandler?.at(-1)?.name.endsWith('holdfastLedger')) return
  throw new ConfigurationError(
    `The route ${request.routeOptions.url} was added before the ledger was loaded, so that its preHandler hooks would run ` +
      'after the ledger: write `await app.register(fastifyLedger, { ledger })`, or add the route in a plugin',
  )
}

/** What Fastify has parsed; the stream where it left the body to the handler, as it does with forms. */
function fastifyInbound(request: FastifyRequest, limit: number): Inbound<FastifyRequest> {
  return {
    native: request,
    method: request.method.toUpperCase(),
    ...targetOf(request.raw),
    headers: rawHeaderList(request.raw.rawHeaders),
    body: () => fastifyBody(request, limit),
  }
}

function fastifyBody({ body, raw }: FastifyRequest, limit: number): InboundBody | Promise<InboundBody> {
  if (body === undefined || isStream(body)) return nodeBody(raw, limit)
  if (isMultipart(raw) && typeof body === 'object' && !(body instanceof Uint8Array)) throw formAlreadyRead()
  // The JSON text `null`, or no body at all.
  return body === null && !raw.readableDidRead ? null : inboundBody(body)
}

function isStream(value: unknown): boolean {
  return typeof (value as { pipe?: unknown } | null)?.pipe === 'function'
}

/**
 * Serves each request of the whole app inside its retry context.
 *
 * ```ts
 * await app.register(fastifyRetryContext)
 * ```
 */
export function fastifyRetryContext(
  app: FastifyInstance,
  options: RetryContextOptions<FastifyRequest>,
  done: () => void,
): void {
  // Fastify itself carries it over the reading of the body.
  app.addHook('onRequest', (request, _reply, next) => serveWithin(request, next, options))
  done()
}

// For the whole app, not only for the encapsulated part that registers it, as fastify-plugin has it.
Object.assign(fastifyRetryContext, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast-retry-context',
})
Object.assign(fastifyLedger, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast-ledger',
})
