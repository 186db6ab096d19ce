import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { httpServer, type Seen } from '../../support/transport-servers.ts'

/** What happens to one request. The first four do the work. */
export type Fault =
  | 'lost answer'
  | '500 after the work'
  | 'silence after the work'
  | 'slow'
  | 'silence'
  | 'reset'
  | '503'
  | '503 with Retry-After'
  | '429'
  | '429 in 20 ms'

export interface ApiAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface ApiPlan {
  readonly answer: (request: Seen) => ApiAnswer
  readonly keys: 'honoured' | 'ignored'
  /** The first requests, one after the other. */
  readonly faults?: readonly Fault[]
  /** All requests after them; none by default. */
  readonly lasting?: Fault
}

export interface FaultyApi {
  readonly origin: string
  readonly requests: readonly Seen[]
  /** How many effects the API has had. */
  effects(): number
  close(): Promise<void>
}

const SLOW_MS = 1500

/** An error in the words of every API that is played here. */
const PROBLEM = {
  type: 'error',
  __type: 'InternalServerError',
  message: 'try again',
  error: { type: 'api_error', message: 'try again' },
}

const REFUSALS: Partial<Record<Fault, ApiAnswer>> = {
  '500 after the work': { status: 500, body: PROBLEM },
  '503': { status: 503, body: PROBLEM },
  '503 with Retry-After': { status: 503, headers: { 'retry-after': '1' }, body: PROBLEM },
  '429': { status: 429, headers: { 'retry-after': '1' }, body: PROBLEM },
  '429 in 20 ms': { status: 429, headers: { 'retry-after-ms': '20' }, body: PROBLEM },
}

/** An API on loopback that counts what it does, and fails as planned. */
export async function faultyApi(plan: ApiPlan): Promise<FaultyApi> {
  const done = new Map<string, ApiAnswer>()
  const effects = new Set<string>()
  let arrived = 0
  const work = (request: Seen): ApiAnswer => {
    const key = String(request.headers['idempotency-key'] ?? '')
    const known = plan.keys === 'honoured' ? done.get(key) : undefined
    if (known) return { ...known, headers: { ...known.headers, 'idempotent-replayed': 'true' } }
    noteEffect(effects, request)
    const answer = plan.answer(request)
    if (key !== '') done.set(key, answer)
    return answer
  }
  const server = await httpServer((_, response) => {
    const request = server.seen.at(-1) as Seen
    const fault = plan.faults?.[arrived++] ?? plan.lasting
    void serve(response, fault, () => work(request))
  })
  return { origin: server.origin, requests: server.seen, effects: () => effects.size, close: () => server.close() }
}

/** A read has none, and the same PUT or DELETE again is the same effect: such is their method. */
function noteEffect(effects: Set<string>, { method = '', url, body }: Seen): void {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return
  effects.add(['PUT', 'DELETE'].includes(method) ? `${method} ${url} ${body}` : String(effects.size))
}

async function serve(response: ServerResponse, fault: Fault | undefined, work: () => ApiAnswer): Promise<void> {
  if (fault === 'lost answer' || fault?.endsWith(' after the work')) work()
  if (fault?.startsWith('silence')) return
  if (fault === 'lost answer' || fault === 'reset') return void response.socket?.destroy()
  if (fault === 'slow') await pause(SLOW_MS)
  const { status = 200, headers, body } = (fault && REFUSALS[fault]) ?? work()
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
