import { isHoldfastError } from '../errors/holdfast-error.ts'
import { branded } from '../foundation/own-fetch.ts'
import { type HandleSource, OperationHandle } from './operation-handle.ts'
import type { BodyInput, CallOptions, FetchLike } from './options.ts'
import { type BodySnapshot, checkedBody, unreadable } from './request-body.ts'
import type { Target } from './start-call.ts'

/** What `client.fetch` rejects with where fetch would say `TypeError`; `cause` is the HoldfastError. */
export class FetchFailedError extends TypeError {
  /** As fetch has it: tools tell a failure of the network by this name. */
  override name = 'TypeError'
}

type Start = (target: Target, options: CallOptions) => HandleSource

/** A drop-in `fetch` on top of the client: any final response resolves, everything else rejects as fetch does. */
export function clientFetch(start: Start, maxBodyBytes: number): FetchLike {
  return branded(async (input, init = {}) => {
    try {
      const { target, options } = readFetch(input, init, maxBodyBytes)
      return await new OperationHandle(start(target, options))
    } catch (error) {
      return answerOrThrow(error)
    }
  })
}

function readFetch(
  input: string | URL | Request,
  init: RequestInit,
  maxBodyBytes: number,
): { target: Target; options: CallOptions } {
  const request = input instanceof Request ? input : undefined
  const body = init.body === undefined && request?.body ? readRequestBody(request, maxBodyBytes) : undefined
  const target: Target = {
    method: init.method ?? request?.method ?? 'GET',
    url: request ? request.url : (input as string | URL),
    redirect: (init.redirect ?? request?.redirect ?? 'follow') as Target['redirect'],
    body,
    dropIn: true,
  }
  const headers = init.headers === undefined ? request?.headers : new Headers(init.headers)
  const signal = init.signal ?? request?.signal
  return { target, options: { headers, signal, body: init.body as BodyInput | null | undefined } }
}

async function readRequestBody(request: Request, limit: number): Promise<BodySnapshot> {
  const bytes = new Uint8Array(await request.arrayBuffer().catch(unreadable))
  return checkedBody(bytes, undefined, limit)
}

function answerOrThrow(error: unknown): Response {
  if (!isHoldfastError(error)) throw error
  const { response } = error as { response?: Response }
  // An answer from before is not this one's: where the last attempt got none, fetch would reject.
  if (response && error.attempts.at(-1)?.status !== undefined) return response
  if (error.reason === 'aborted') throw abortError(error)
  throw new FetchFailedError('fetch failed', { cause: error })
}

function abortError(cause: Error): DOMException {
  const abort = new DOMException(cause.message, 'AbortError')
  Object.defineProperty(abort, 'cause', { value: cause })
  return abort
}
