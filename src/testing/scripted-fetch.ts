import type { FetchLike, HeadersInput } from '../client/options.ts'
import { checkHeaders } from '../client/policy/check-headers.ts'
import { objectWith } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { abortReason, onAbort } from '../foundation/abort.ts'
import { type Clock, systemClock } from '../foundation/clock.ts'
import { brandCandid } from '../foundation/own-fetch.ts'

/**
 * What the network does instead of answering. `'refused'`, `'dns'`: certainly not a byte left. `'reset'`, `'timeout'`: it
 * may have arrived. An error of your own is thrown as it is.
 */
export type ScriptedFault = 'refused' | 'reset' | 'timeout' | 'dns' | Error

interface Timing {
  /** Milliseconds on the clock before anything happens. */
  readonly delay?: number | undefined
  /** Only on the last step: play it for every further call. */
  readonly repeat?: boolean | undefined
}

/** An answer. `{}` is an empty 200. */
export interface AnswerStep extends Timing {
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: HeadersInput | undefined
  readonly body?: string | Uint8Array | null | undefined
  /** Instead of `body`; the content type is set, too. */
  readonly json?: unknown
  /** Sends head and `body`, and then neither more nor the end. */
  readonly stallBody?: boolean | undefined
  /** The final URL, where the answer came after a redirect. */
  readonly url?: string | undefined
}

/** No answer. */
export interface FaultStep extends Timing {
  readonly fault: ScriptedFault
}

/** No answer and no error either. */
export interface HangStep extends Timing {
  /** Nothing happens until the caller aborts. */
  readonly hang: true
}

/** A step that is decided beforehand. */
export type PlainStep = AnswerStep | FaultStep | HangStep
/** What a function may decide on. */
export type StepResult = PlainStep | Response
/** Decides when the call comes: a small server, if you like. `n` counts the calls from 1. */
export type StepFunction = (call: ScriptedCall, n: number) => StepResult | Promise<StepResult>
/** What happens to one call. */
export type ScriptedStep = PlainStep | StepFunction

/** One call as it arrived. */
export interface ScriptedCall {
  readonly method: string
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The body as UTF-8. */
  readonly text: string
  /** When it came, by the clock; epoch milliseconds. */
  readonly at: number
}

/** A `fetch` that remembers what it was asked. */
export interface ScriptedFetch extends FetchLike {
  /** Every call so far, in order; also those that were not answered. */
  readonly calls: readonly ScriptedCall[]
}

export interface ScriptedFetchOptions {
  /** What `delay` waits on and `at` is read from. Default: the system's. */
  readonly clock?: Clock | undefined
}

/**
 * A `fetch` that plays the steps in order, one for each call; a single function plays for every call. A call for which
 * no step is left ends at once with an error that names it.
 *
 * ```ts
 * const fetch = scriptedFetch([{ fault: 'reset' }, { status: 503 }, { status: 201, json: { id: 1 } }])
 * const client = createClient({ baseUrl, fetch, journal: memoryJournal() })
 * await client.post('/orders', { json: order })
 * fetch.calls.length // 3, with one key and the same bytes
 * ```
 */
export function scriptedFetch(
  steps: readonly ScriptedStep[] | StepFunction,
  options?: ScriptedFetchOptions,
): ScriptedFetch {
  const { clock } = readOptions('scriptedFetch', options, {
    clock: [systemClock, objectWith<Clock>('now', 'sleep')],
  })
  if (typeof steps !== 'function') refuseEarlyRepeat(steps)
  const calls: ScriptedCall[] = []

  const play: FetchLike = async (input, init) => {
    const request = new Request(input, init)
    if (request.signal.aborted) throw abortReason(request.signal)
    const call = { ...describe(request), at: clock.now(), body: new Uint8Array(), text: '' }
    const n = calls.push(call)
    const step = stepFor(steps, n, call)
    call.body = new Uint8Array(await request.arrayBuffer())
    call.text = new TextDecoder().decode(call.body)
    const result = typeof step === 'function' ? await step(call, n) : step
    return result instanceof Response ? result : perform(result, { request, clock })
  }
  // Nothing is ever sent twice here, and each fault says how far the request came.
  return brandCandid(Object.assign(play, { calls }))
}

function describe(request: Request): Pick<ScriptedCall, 'method' | 'url' | 'headers'> {
  return { method: request.method, url: request.url, headers: Object.fromEntries(request.headers) }
}

function refuseEarlyRepeat(steps: readonly ScriptedStep[]): void {
  const early = steps.slice(0, -1).findIndex((step) => typeof step !== 'function' && step.repeat)
  if (early < 0) return
  throw new RangeError(`scriptedFetch: step ${early + 1} of ${steps.length} says 'repeat'; only the last one can`)
}

function stepFor(steps: readonly ScriptedStep[] | StepFunction, n: number, call: ScriptedCall): ScriptedStep {
  if (typeof steps === 'function') return steps
  const step = steps[n - 1]
  if (step) return step
  const last = steps.at(-1)
  if (last && typeof last !== 'function' && last.repeat) return last
  const given = steps.length === 1 ? '1 step' : `${steps.length} steps`
  // A mistake of the test, not of the network: a client must not take it for something to retry.
  throw new RangeError(`scriptedFetch was given ${given} and has none for call ${n}: ${call.method} ${call.url}`)
}

interface Stage {
  readonly request: Request
  readonly clock: Clock
}

async function perform(step: PlainStep, { request, clock }: Stage): Promise<Response> {
  if (step.delay !== undefined) await clock.sleep(step.delay, request.signal)
  if ('hang' in step) return untilAborted(request.signal)
  if ('fault' in step) throw faultError(step.fault, new URL(request.url))
  return answer(step, request)
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => onAbort(signal, () => reject(abortReason(signal))))
}

function answer(step: AnswerStep, request: Request): Response {
  const headers = new Headers()
  for (const [name, value] of checkHeaders('headers', step.headers ?? {})) headers.append(name, value)
  if (step.json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const payload = step.json === undefined ? bytesOf(step.body) : JSON.stringify(step.json)
  const body = step.stallBody ? stalledBody(payload, request.signal) : payload
  const response = new Response(body ?? null, { status: step.status ?? 200, headers })
  const url = step.url ?? request.url
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: url !== request.url } })
}

/** A copy: the reader of a stream may keep or change its bytes. */
function bytesOf(body: AnswerStep['body']): string | Uint8Array<ArrayBuffer> | null | undefined {
  return body instanceof Uint8Array ? new Uint8Array(body) : body
}

function stalledBody(
  payload: string | Uint8Array<ArrayBuffer> | null | undefined,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      if (payload) controller.enqueue(typeof payload === 'string' ? new TextEncoder().encode(payload) : payload)
      onAbort(signal, () => controller.error(abortReason(signal)))
    },
  })
}

/** Rejects as Node's fetch does: a TypeError whose cause has the code. */
function faultError(fault: ScriptedFault, { hostname, host }: URL): Error {
  if (fault instanceof Error) return fault
  const causes = {
    refused: { message: `connect ECONNREFUSED ${host}`, code: 'ECONNREFUSED', syscall: 'connect' },
    dns: { message: `getaddrinfo ENOTFOUND ${hostname}`, code: 'ENOTFOUND', syscall: 'getaddrinfo' },
    reset: { message: 'read ECONNRESET', code: 'ECONNRESET', syscall: 'read' },
    timeout: { message: 'Headers Timeout Error', code: 'UND_ERR_HEADERS_TIMEOUT', name: 'HeadersTimeoutError' },
  }
  const { message, ...details } = causes[fault]
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), details) })
}
