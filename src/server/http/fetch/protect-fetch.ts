import { ConfigurationError } from '../../../errors/classes.ts'
import { isReply } from '../../entry/reply.ts'
import type { Begun } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { Session } from '../../guard/session.ts'
import type { Inbound } from '../port.ts'
import { answerOf, type HeldResponse, responseOf } from './fetch-answer.ts'
import { readLimited } from './read-limited.ts'

/** What this adapter needs of a ledger. */
export interface FetchGuard {
  begin(inbound: Inbound<Request>): Promise<Begun>
  readonly maxRequestBytes: number
  readonly maxResponseBytes: number
}

type Handler<Rest extends unknown[]> = (request: Request, context: IdempotencyContext, ...rest: Rest) => unknown

/** A fetch-style handler that does its work once per key. */
export function protectFetch<Rest extends unknown[]>(
  guard: FetchGuard,
  handler: Handler<Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('protect() needs a handler: ledger.protect((request, context) => …, options)')
  }
  return async (request, ...rest) => {
    const begun = await guard.begin(inboundOf(request, guard.maxRequestBytes))
    if (begun.kind === 'answered') return responseOf(begun.answer)
    return run(begun.session, guard, () => handler(request, begun.session.context, ...rest))
  }
}

async function run(session: Session, guard: FetchGuard, handle: () => unknown): Promise<Response> {
  let held: HeldResponse
  try {
    const returned = await handle()
    if (!session.decides && returned instanceof Response) return await letThrough(session, returned)
    held = await hold(returned, guard.maxResponseBytes)
  } catch (error) {
    const instead = await session.fail(error)
    if (instead) return responseOf(instead)
    throw error
  }
  const outgoing = await session.complete(held.answer)
  if ('unheld' in outgoing) return responseOf(outgoing, held.stream)
  await held.stream?.cancel()
  return responseOf(outgoing)
}

/** Nothing is kept of it, so it need not be held. */
async function letThrough(session: Session, response: Response): Promise<Response> {
  await session.complete({ status: response.status, headers: [], body: null })
  return response
}

function hold(returned: unknown, limit: number): ReturnType<typeof answerOf> {
  if (isReply(returned)) return Promise.resolve({ answer: returned })
  if (returned instanceof Response) return answerOf(returned, limit)
  throw new ConfigurationError('A protected handler must return a Response, json(value, init) or reply(body, init)', {
    effect: 'unknown',
  })
}

/** A fetch request in plain values. The handler still gets its body: what is read here is a copy. */
export function inboundOf(request: Request, limit: number): Inbound<Request> {
  const url = new URL(request.url)
  return {
    native: request,
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers: [...request.headers],
    body: () => {
      if (request.bodyUsed) {
        throw new ConfigurationError('The body was read before the ledger saw it: put protect() before what reads it')
      }
      return readCopy(request, limit)
    },
  }
}

async function readCopy(request: Request, limit: number): Promise<Uint8Array | null> {
  try {
    return await readLimited(request.clone().body, limit)
  } catch (error) {
    // No handler runs: without this, what is still coming would be kept for it. It resolves when the copy has ended.
    request.body?.cancel().catch(() => {})
    throw error
  }
}
