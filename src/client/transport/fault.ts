import { type AbortLike, abortReason } from '../../foundation/abort.ts'
import type { TransportFault } from './port.ts'

/** Makes a fault of what a fetch rejected with. */
export type ToFault = (error: unknown) => TransportFault

/**
 * Errors of these kinds come from the program. A `TypeError` alone does not count: it is how every fetch reports the network,
 * and its message may be in any language. msw throws an `InternalError` for a request that has no handler.
 */
const PROGRAM_ERROR = /^(Range|Reference|Syntax|Eval|URI|Internal)Error$/

/** What V8, SpiderMonkey and JavaScriptCore say of a program's own mistake. They say it in English everywhere. */
const MISTAKE =
  /\bis not (a function|a constructor|iterable|an object)\b|^Cannot (read|set|destructure|convert) |^can't (access|convert) |^(undefined|null) is not |\bis (undefined|null)$|^Assignment to constant/

/** By the kind of the error alone: browsers say no more. A custom fetch may throw anything. */
export function toFault(error: unknown): TransportFault {
  const name = error instanceof Error ? error.name : ''
  const transient = !PROGRAM_ERROR.test(name) && !(error instanceof TypeError && MISTAKE.test(error.message))
  const aborted = name === 'AbortError' || name === 'TimeoutError'
  const code = aborted ? 'aborted' : transient ? 'network' : name
  return { kind: 'fault', code, mayHaveArrived: true, transient, cause: error }
}

/** The program's fault, found before anything was sent: the same call fails the same way. */
export function neverSent(error: unknown): TransportFault {
  return { ...toFault(error), mayHaveArrived: false, transient: false }
}

/** The attempt's own signal ended it. */
export function abortedFault(signal: AbortLike, fate: Pick<TransportFault, 'mayHaveArrived'>): TransportFault {
  return { kind: 'fault', code: 'aborted', ...fate, transient: true, cause: abortReason(signal) }
}

/** A redirect led to an origin that must not get the request: a captive portal, say. It was not followed. */
export function untrustedRedirect(origin: string): TransportFault {
  return notFollowed(`Redirected to ${origin}, which is not a trusted origin`)
}

/** A page is not shown where a redirect leads. */
export function hiddenRedirect(): TransportFault {
  return notFollowed('Redirected, and a page can not see to which origin')
}

function notFollowed(message: string): TransportFault {
  const cause = new Error(message)
  return { kind: 'fault', code: 'untrusted-redirect', mayHaveArrived: true, transient: true, cause }
}
