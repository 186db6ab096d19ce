import { isHoldfastError } from '../errors/holdfast-error.ts'

const marked = new WeakSet<object>()

/**
 * An error is made long after its call, from a timer or a socket, and its own stack has no frame of the program: error
 * trackers would take all failures for one. To be called while the promise that the caller awaits is being rejected: there
 * V8 knows the functions that await it, and a call that succeeds costs nothing. What is not our error, such as the reason of
 * an abort, stays as it is.
 */
export function addAwaitingFrames(error: unknown, below: () => never): void {
  if (!Error.captureStackTrace || !isHoldfastError(error) || marked.has(error)) return
  const site: { stack?: string } = {}
  Error.captureStackTrace(site, below)
  const { stack = '' } = site
  const frames = stack.slice(stack.indexOf('\n') + 1)
  if (!frames.includes(' at ')) return
  marked.add(error)
  Object.defineProperty(error, 'stack', { value: `${error.stack}\n${frames}`, configurable: true, writable: true })
}
