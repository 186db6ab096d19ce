import type { Dispatcher } from 'undici'

/** Where all copies of undici, Node's own among them, keep the dispatcher of the program. */
const GLOBAL = Symbol.for('undici.globalDispatcher.1')

// Node loads its fetch, and makes its dispatcher, with the first of these classes that is looked at.
void globalThis.Response

/** Node's or undici's own default, which the application did not set. */
let platformDefault = untouchedDispatcher()

/** For a Node whose own undici keeps its dispatcher elsewhere: the one that undici has made as it was loaded. */
export function noteDefaultDispatcher(): void {
  platformDefault ??= untouchedDispatcher()
}

/** The dispatcher that the application has set for all of its requests (a proxy, a mock), if it has. */
export function applicationDispatcher(): Dispatcher | undefined {
  const dispatcher = globalDispatcher()
  return dispatcher === platformDefault ? undefined : dispatcher
}

function globalDispatcher(): Dispatcher | undefined {
  return (globalThis as { [GLOBAL]?: Dispatcher })[GLOBAL]
}

function untouchedDispatcher(): Dispatcher | undefined {
  const dispatcher = globalDispatcher()
  return dispatcher && isUntouchedAgent(dispatcher) ? dispatcher : undefined
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
