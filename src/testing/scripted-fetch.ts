import type { FetchLike } from '../client/options.ts'
import { abortReason, onAbort } from '../foundation/abort.ts'
import { type Clock, systemClock } from '../foundation/clock.ts'

/** What the network does instead of answering. `refused` and `dns`: no byte left. `reset` and `timeout`: nobody knows. */
export type ScriptedFault = 'refused' | 'reset' | 'timeout' | 'dns' | Error

interface Timing {
  /** Milliseconds on the clock before anything happens. */
  readonly delay?: number | undefined
  /** On the last step: play it for every further call. */
  readonly repeat?: boolean | undefined
}

export interface AnswerStep extends Timing {
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: HeadersInit | undefined
  readonly body?: string | Uint8Array<ArrayBuffer> | null | undefined
  readonly json?: unknown
  /** Sends head and `body`, and then neither more nor the end. */
  readonly stallBody?: boolean | undefined
  /** The final URL, where the answer came after a redirect. */
  readonly url?: string | undefined
}

export interface FaultStep extends Timing {
  readonly fault: ScriptedFault
}

export interface HangStep extends Timing {
  /** Nothing happens until the caller aborts. */
  readonly hang: true
}

export type PlainStep = AnswerStep | FaultStep | HangStep
export type StepResult = PlainStep | Response
/** Decides when the call comes; `n` counts the calls from 1. */
export type StepFunction = (call: ScriptedCall, n: number) => StepResult | Promise<StepResult>
export type ScriptedStep = PlainStep | StepFunction

/** One call as it arrived. */
export interface ScriptedCall {
  readonly method: string
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly text: string
  /** When it came, by the clock; epoch milliseconds. */
  readonly at: number
}

export interface ScriptedFetch extends FetchLike {
  readonly calls: readonly ScriptedCall[]
}

/** A `fetch` that plays the steps in order, one for each call; a single function plays for every call. */
export function scriptedFetch(
  steps: readonly ScriptedStep[] | StepFunction,
  options: { readonly clock?: Clock | undefined } = {},
): ScriptedFetch {
  const clock = options.clock ?? systemClock
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
  return Object.assign(play, { calls })
}

function describe(request: Request): Pick<ScriptedCall, 'method' | 'url' | 'headers'> {
  return { method: request.method, url: request.url, headers: Object.fromEntries(request.headers) }
}

function stepFor(steps: readonly ScriptedStep[] | StepFunction, n: number, call: ScriptedCall): ScriptedStep {
  if (typeof steps === 'function') return steps
  const step = steps[n - 1]
  if (step) return step
  const last = steps.at(-1)
  if (last && typeof last !== 'function' && last.repeat) return last
  throw new Error(
    `scriptedFetch was given ${steps.length} steps and has none for call ${n}: ${call.method} ${call.url}`,
  )
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
  const headers = new Headers(step.headers)
  if (step.json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const payload = step.json === undefined ? step.body : JSON.stringify(step.json)
  const body = step.stallBody ? stalledBody(payload, request.signal) : payload
  const response = new Response(body ?? null, { status: step.status ?? 200, headers })
  const url = step.url ?? request.url
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: url !== request.url } })
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
