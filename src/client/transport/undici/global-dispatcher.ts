import { type Dispatcher, getGlobalDispatcher } from 'undici'

/**
 * undici makes itself a default Agent when it is loaded, unless somebody was earlier. That one, and the one that
 * Node's own fetch makes, is nobody's wish; every other one was set by the application.
 */
const platformDefault = isUntouchedAgent(getGlobalDispatcher()) ? getGlobalDispatcher() : undefined

/** The dispatcher that the application has set for all of its requests (a proxy, a mock), if it has. */
export function applicationDispatcher(): Dispatcher | undefined {
  const current = getGlobalDispatcher()
  return current === platformDefault ? undefined : current
}

/**
 * An Agent as `new Agent()` makes it. Only asked for what was there before us: an application that has set such a
 * one gets the same connections from ours. What can't be recognised counts as set on purpose.
 */
function isUntouchedAgent(dispatcher: Dispatcher): boolean {
  if (dispatcher.constructor.name !== 'Agent') return false
  // One with interceptors hides behind a Proxy, which shows another `dispatch` than its class has.
  if (dispatcher.dispatch !== Object.getPrototypeOf(dispatcher).dispatch) return false
  const options = ownSymbolValue(dispatcher, 'options')
  const factory = ownSymbolValue(dispatcher, 'factory')
  if (typeof options !== 'object' || options === null || typeof factory !== 'function') return false
  return factory.name === 'defaultFactory' && Object.entries(options).every(isDefaultOption)
}

function isDefaultOption([name, value]: [string, unknown]): boolean {
  return value === undefined || (name === 'maxOrigins' && value === Number.POSITIVE_INFINITY)
}

function ownSymbolValue(target: object, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(target).find((candidate) => candidate.description === description)
  return symbol && (target as Record<symbol, unknown>)[symbol]
}
