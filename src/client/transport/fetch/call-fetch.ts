import { type AbortLike, nativeSignal, onAbort } from '../../../foundation/abort.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import type { JudgeCode } from '../fault-codes.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { TransportFault, TransportRequest } from '../port.ts'
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
  /** Is a refused connection that of this URL? Where fetch follows redirects, it may be that of a later one. */
  readonly oneHop: boolean
  readonly judgeCode: JudgeCode | undefined
}

export interface Called {
  readonly kind: 'called'
  readonly response: Response
}

export async function callFetch(fetch: FetchLike, call: FetchCall): Promise<Called | TransportFault> {
  let init: RequestInit
  try {
    init = toInit(call)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: false, transient: false }
  }
  const { signal, judgeCode } = call
  try {
    return { kind: 'called', response: await untilAborted(fetch(call.url, init), signal) }
  } catch (error) {
    // A custom fetch can't tell how far it came.
    if (signal.aborted) return abortedFault(signal, { mayHaveArrived: true })
    const fault = toFault(error, judgeCode)
    return call.oneHop ? fault : { ...fault, mayHaveArrived: true }
  }
}

function toInit({ method, headers: list, body, redirect, credentialsMode, signal }: FetchCall): RequestInit {
  const headers = new Headers()
  // A browser drops `host` by itself, other fetch functions send it.
  for (const [name, value] of list) if (name !== 'host') headers.append(name, value)
  // A copy: a fetch may transfer or change what it is given, and the next hop or attempt needs the same bytes.
  const init = { method, headers, body: body && new Uint8Array(body), redirect, signal: nativeSignal(signal) }
  return credentialsMode ? { ...init, credentials: credentialsMode } : init
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
