import type { IncomingMessage } from 'node:http'
import { isThenable } from '../../../foundation/thenable.ts'

type Next = (error?: unknown) => void
type Handle = (req: IncomingMessage, res: unknown, next: Next) => unknown

/** A handler in a route of Express, as its router keeps it. */
interface Layer {
  handle: Handle
}

/** `next` gives the error to the framework. */
type OnThrow = (error: unknown, next: Next) => void

const listeners = new WeakMap<IncomingMessage, OnThrow>()
const watched = new WeakSet<Layer>()

/**
 * Calls `onThrow` with what the route handlers behind `next()` throw, before Express answers the error: that answer,
 * perhaps a final 4xx, looks like one of the handler's own.
 */
export function watchRoutes(req: IncomingMessage & { route?: unknown }, onThrow: OnThrow): void {
  listeners.set(req, onThrow)
  let { route } = req
  watchLayers(route)
  const set = (entered: unknown): void => {
    route = entered
    watchLayers(route)
  }
  Object.defineProperty(req, 'route', { configurable: true, enumerable: true, get: () => route, set })
}

/** `'route'` and `'router'` skip handlers: they are no errors. */
export function isError(error: unknown): boolean {
  return error !== undefined && error !== null && error !== 'route' && error !== 'router'
}

function watchLayers(route: unknown): void {
  for (const layer of (route as { stack?: readonly Layer[] } | undefined)?.stack ?? []) {
    const { handle } = layer
    // Express recognises error handlers by their fourth parameter.
    if (watched.has(layer) || handle.length > 3) continue
    watched.add(layer)
    layer.handle = (req, res, next) => {
      const onThrow = listeners.get(req)
      return onThrow ? watch((inner) => handle(req, res, inner), onThrow, next) : handle(req, res, next)
    }
  }
}

function watch(handle: (inner: Next) => unknown, onThrow: OnThrow, next: Next): void {
  const fail = (error: unknown): void => onThrow(error, next)
  try {
    const returned = handle((error) => (isError(error) ? fail(error) : next(error)))
    if (isThenable(returned)) returned.then(undefined, fail)
  } catch (error) {
    fail(error)
  }
}
