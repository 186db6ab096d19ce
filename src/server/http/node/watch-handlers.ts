import type { IncomingMessage } from 'node:http'

export type NextFunction = (error?: unknown) => void

/** Runs the handlers of a request in place of Express. */
export interface HandlerRunner {
  /** Never throws: `next` gets what the handler throws. `handle` is called with the `next` that its handler gets. */
  run(handle: (next: NextFunction) => unknown, next: NextFunction): unknown
  /** An error came from a handler by other ways than its own `next`. */
  pass(error: unknown, next: NextFunction): unknown
}

/** `next` is the router's, which `res.render` and `res.sendFile` call with their errors. */
type Req = IncomingMessage & { next?: NextFunction }
type Handle = (req: Req, res: unknown, next: NextFunction) => unknown

/** What a router of Express keeps of each handler. */
interface Layer {
  readonly handle: Handle
}
type LayerPrototype = Record<string, (this: Layer, ...given: Parameters<Handle>) => unknown>

/** How Express 5 and Express 4 call a handler. */
const METHODS = ['handleRequest', 'handle_request']

const runners = new WeakMap<IncomingMessage, HandlerRunner>()
const prototypes = new WeakSet<LayerPrototype>()
const watchedNexts = new WeakSet<NextFunction>()

/**
 * Has all later handlers of the request run by `runner`, also those of other routers: Express answers for what they
 * throw, and such an answer, perhaps a final 4xx, looks like one of their own. False where the request is not on its way
 * through Express.
 */
export function watchHandlers(req: IncomingMessage, runner: HandlerRunner): boolean {
  const prototype = layerPrototype(req)
  if (!prototype) return false
  runners.set(req, runner)
  if (prototypes.has(prototype)) return true
  prototypes.add(prototype)
  for (const name of METHODS) watchMethod(prototype, name)
  return true
}

/** Is the request on its way through a router of Express? */
export function isInExpress(req: IncomingMessage): boolean {
  return layerPrototype(req) !== undefined
}

/** `'route'` and `'router'` skip handlers: they are no errors. */
export function isError(error: unknown): boolean {
  return error !== undefined && error !== null && error !== 'route' && error !== 'router'
}

interface Router {
  readonly stack?: readonly object[]
}

/** Express does not export it. */
function layerPrototype(req: IncomingMessage): LayerPrototype | undefined {
  const { route, app } = req as { route?: Router; app?: { readonly _router?: Router; readonly router?: Router } }
  // In this order: `router` of Express 4 throws.
  const [layer] = route?.stack ?? (app?._router ?? app?.router)?.stack ?? []
  const prototype = layer && (Object.getPrototypeOf(layer) as LayerPrototype)
  return METHODS.some((name) => typeof prototype?.[name] === 'function') ? prototype : undefined
}

function watchMethod(prototype: LayerPrototype, name: string): void {
  const method = prototype[name]
  if (method === undefined) return
  prototype[name] = function (req, res, next) {
    const runner = runners.get(req)
    const { handle } = this
    // Express recognises error handlers by their fourth parameter.
    if (!runner || handle.length > 3) return method.call(this, req, res, next)
    watchRouterNext(req, runner)
    const run: Handle = (_req, _res, outer) => void runner.run((inner) => handle(req, res, inner), outer)
    return method.call(Object.create(this, { handle: { value: run } }), req, res, next)
  }
}

function watchRouterNext(req: Req, runner: HandlerRunner): void {
  const { next } = req
  if (next === undefined || watchedNexts.has(next)) return
  req.next = (error) => (isError(error) ? runner.pass(error, next) : next(error))
  watchedNexts.add(req.next)
}
