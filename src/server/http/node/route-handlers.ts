import type { IncomingMessage } from 'node:http'

/** Express' own: `'route'` and `'router'` skip handlers, any other value is an error. */
export type NextFunction = (error?: unknown) => void

export function isError(said: unknown): boolean {
  return said !== undefined && said !== null && said !== 'route' && said !== 'router'
}

/** A handler of a route, or middleware. */
export type RouteHandler = (req: IncomingMessage, res: never, next: NextFunction) => unknown

/** `req.route` of Express. */
interface Route {
  readonly methods: Readonly<Record<string, unknown>>
  readonly stack: readonly { readonly method?: string; readonly handle: RouteHandler }[]
}

/**
 * The handlers that follow `own` in the route that is being served. Undefined if they can't be run in place of Express:
 * `own` stands in no route, an instrumentation has replaced it, or the route has error handlers of its own, which only
 * Express can skip.
 */
export function handlersBehind(req: IncomingMessage, own: unknown): readonly RouteHandler[] | undefined {
  const { route } = req as { route?: Partial<Route> }
  const at = route?.stack?.findIndex(({ handle }) => handle === own) ?? -1
  if (!route?.stack || at === -1) return undefined
  const called = req.method?.toLowerCase()
  const method = called === 'head' && !route.methods?.head ? 'get' : called
  const layers = route.stack.slice(at + 1).filter((layer) => !layer.method || layer.method === method)
  const areHandlers = layers.every(({ handle }) => typeof handle === 'function' && handle.length <= 3)
  return areHandlers ? layers.map(({ handle }) => handle) : undefined
}
