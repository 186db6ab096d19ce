import { type AnswerDetails, BodyError } from '../errors/classes.ts'
import { type ErrorDetails, type HoldfastError, isHoldfastError } from '../errors/holdfast-error.ts'
import { brandFetch, globalFetch } from '../foundation/own-fetch.ts'
import { toResponse } from '../protocol/stored-message.ts'
import { CallSite } from './call-site.ts'
import type { Answer, HandleSource } from './engine/call/caller.ts'
import { type FetchCall, readFetchCall } from './fetch-call.ts'
import type { FetchLike } from './options.ts'
import type { ResolvedOptions } from './policy/resolved-options.ts'

type Start = (call: FetchCall) => HandleSource

/**
 * A drop-in `fetch`: the platform's own, with a journal, retries and containment around it. Any final response resolves,
 * everything else rejects as fetch does.
 */
export function clientFetch(start: Start, options: ResolvedOptions): FetchLike {
  const platform = options.fetch ?? globalFetch
  async function answerTo(args: Parameters<FetchLike>, site: CallSite): Promise<Response> {
    try {
      const read = readFetchCall(args, options)
      if (!read) return await platform(...args)
      const call = read instanceof Promise ? await read : read
      return wholeAnswer(await start(call).answer)
    } catch (error) {
      return answerOrThrow(error, site)
    }
  }
  return brandFetch(function fetch(...args) {
    const site = new CallSite()
    return capturing(answerTo(args, site), site)
  })
}

/** Still the platform's own promise, and `await` does not call this `then`. */
function capturing(answer: Promise<Response>, site: CallSite): Promise<Response> {
  const then: typeof answer.then = (...handlers) => {
    site.capture(then)
    return Promise.prototype.then.apply(answer, handlers) as never
  }
  return Object.defineProperty(answer, 'then', { value: then, configurable: true, writable: true })
}

/** An answer from the journal may be without its body, which the caller would take for an empty one. */
function wholeAnswer({ response, rest, operation, attempts }: Answer): Response {
  if (rest || !response.bodyOmitted) return toResponse(response, rest)
  const message = 'It was done by an earlier call with this key, but the record of its answer has no body'
  throw new BodyError(message, { code: 'HOLDFAST_BODY_OMITTED', effect: 'applied', operation, attempts })
}

function answerOrThrow(error: unknown, site: CallSite): Response {
  if (!isHoldfastError(error)) throw error
  const { response } = error as { response?: Response }
  // Only a rule of the caller's own (`shouldRetry`) that threw makes a refusal have a cause: a mistake must be seen.
  const isMistake = error.reason === 'status' && error.cause !== undefined
  // An answer from before is not this one's: where the last attempt got none, fetch would reject.
  if (!isMistake && response && error.attempts.at(-1)?.status !== undefined) return response
  throw site.addTo(error.reason === 'aborted' ? abortError(error) : failed(withPlatformCode(error)))
}

/**
 * Programs read `error.cause.code` of a fetch that failed, and find there what the platform would say. Ours stands beside it. A
 * new error, because callers of one operation may share theirs.
 */
function withPlatformCode(error: HoldfastError): Error {
  const code = platformCode(error.cause, 0)
  if (code === undefined) return error
  const Same = error.constructor as new (message: string, details: ErrorDetails & AnswerDetails) => HoldfastError
  const { response } = error as AnswerDetails
  const shown = new Same(error.message, { ...error, cause: error.cause, response })
  return Object.assign(shown, { code, holdfastCode: error.code, stack: error.stack ?? '' })
}

const DEEPEST_CAUSE = 10

function platformCode(error: unknown, depth: number): string | undefined {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : platformCode(error.cause, depth + 1)
}

/** Of the very class that fetch throws: tools compare it, and know the message. */
function failed(cause: Error): TypeError {
  return new TypeError('fetch failed', { cause })
}

function abortError(cause: Error): DOMException {
  const abort = new DOMException(cause.message, 'AbortError')
  Object.defineProperty(abort, 'cause', { value: cause })
  return abort
}
