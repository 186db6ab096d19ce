import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from '../port.ts'
import type { NextFunction } from './route-handlers.ts'
import { sendAnswer } from './send-answer.ts'

const SERVER_ERROR: Answer = {
  status: 500,
  headers: [['content-type', 'application/problem+json']],
  body: new TextEncoder().encode('{"type":"about:blank","title":"Internal Server Error","status":500}'),
}

/** A request and its response, with the place where errors go. */
export interface Served {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The framework's; undefined if there is none, as with `node:http`. */
  readonly next: NextFunction | undefined
  /** Gets errors if there is no `next`. */
  readonly onError: (error: unknown) => void
}

/** The error goes to the framework; without one, the answer is a plain 500. */
export function rejectRequest({ res, next, onError }: Served, error: unknown): void {
  if (next) return void next(error)
  onError(error)
  if (!res.headersSent) sendAnswer(res, SERVER_ERROR)
}

/**
 * Calls back when a timeout has passed: one of the platform, or of middleware that emits the platform's event, as
 * `connect-timeout` does. Without a listener of the response: with one, the platform would keep the connection open.
 */
export function onTimeout({ req, res }: Served, call: () => void): void {
  // Before the listener of middleware, which answers the request.
  req.prependOnceListener('timeout', call)
  const { emit } = res
  res.emit = (...event: Parameters<typeof emit>) => {
    if (event[0] === 'timeout') call()
    return emit.apply(res, event)
  }
}
