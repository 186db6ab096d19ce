import { type AbortLike, nativeSignal, onAbort } from '../../../foundation/abort.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import type { JudgeCode } from '../fault-codes.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { DropIn, FetchArguments, TransportFault, TransportRequest } from '../port.ts'
import { discardBody } from './read-body.ts'

/** One call of fetch. */
export interface FetchCall {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly credentialsMode: TransportRequest['credentialsMode']
  readonly signal: AbortLike
  /** The arguments come from there; after a redirect only what they say of neither target nor content. */
  readonly dropIn: DropIn | undefined
  readonly hop: 'first' | 'redirected'
  /** Is a refused connection that of this URL? Where fetch follows redirects, it may be that of a later one. */
  readonly oneHop: boolean
  readonly judgeCode: JudgeCode | undefined
}

export interface Called {
  readonly kind: 'called'
  readonly response: Response
}

export async function callFetch(fetch: FetchLike, call: FetchCall): Promise<Called | TransportFault> {
  let args: FetchArguments
  try {
    args = toArguments(call)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: false, transient: false }
  }
  const { signal, judgeCode } = call
  try {
    return { kind: 'called', response: await untilAborted(fetch(args.input, args.init), signal) }
  } catch (error) {
    // A custom fetch can't tell how far it came.
    if (signal.aborted) return abortedFault(signal, { mayHaveArrived: true })
    const fault = toFault(error, judgeCode)
    return call.oneHop ? fault : { ...fault, mayHaveArrived: true }
  }
}

function toArguments(call: FetchCall): FetchArguments {
  const { dropIn, hop, redirect, url } = call
  if (!dropIn) return { input: url, init: { ...toInit(call), signal: nativeSignal(call.signal) } }
  const given = dropIn.arguments()
  const init = { ...given.init }
  if (dropIn.endedBy === 'attempt') init.signal = nativeSignal(call.signal)
  else if (dropIn.signal) init.signal = dropIn.signal
  if (hop === 'redirected') return { input: url, init: { ...init, ...toInit(call), body: bodyOf(call, given) } }
  if (redirect !== 'follow') init.redirect = redirect
  const headers = withHeaders(dropIn.headers, call.headers)
  if (headers) init.headers = headers
  return { input: given.input, init }
}

function toInit({ method, headers: list, body, redirect, credentialsMode }: FetchCall): RequestInit {
  const headers = new Headers()
  // A browser drops `host` by itself, other fetch functions send it.
  for (const [name, value] of list) if (name !== 'host') headers.append(name, value)
  // A copy: a fetch may transfer or change what it is given, and the next hop or attempt needs the same bytes.
  const init = { method, headers, body: body && new Uint8Array(body), redirect }
  return credentialsMode ? { ...init, credentials: credentialsMode } : init
}

/** A redirect that turns the request into a GET has dropped its body, any other keeps it. */
function bodyOf({ method }: FetchCall, { init }: FetchArguments): BodyInit | null {
  return method === 'GET' || method === 'HEAD' ? null : (init.body ?? null)
}

/** The caller's headers with those of the attempt over them; undefined where the attempt has no other. */
function withHeaders(given: Headers, list: HeaderList): Headers | undefined {
  let changed: Headers | undefined
  for (const [name, value] of list) {
    if (given.get(name) === value) continue
    changed ??= new Headers(given)
    changed.set(name, value)
  }
  return changed
}

/** A fetch that takes no notice of its signal must not hold the caller; what it brings later is thrown away. */
function untilAborted(answer: Promise<Response>, signal: AbortLike): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => {
      reject(signal.reason)
      Promise.resolve(answer).then(discardBody, () => {})
    })
    Promise.resolve(answer).then(resolve, reject).finally(stop)
  })
}
