import { ConfigurationError } from '../../../errors/classes.ts'
import { refusal } from '../../admission/refusal.ts'
import { isReply } from '../../entry/reply.ts'
import type { Begun } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { Session } from '../../guard/session.ts'
import type { Answer, Inbound } from '../port.ts'
import { answerOf, responseOf } from './fetch-answer.ts'
import { BodyTooLarge, readLimited } from './read-limited.ts'

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
  return async (request, ...rest) => {
    try {
      const begun = await guard.begin(inboundOf(request, guard.maxRequestBytes))
      if (begun.kind === 'answered') return responseOf(begun.answer)
      return await run(begun.session, guard, () => handler(request, begun.session.context, ...rest))
    } catch (error) {
      if (error instanceof BodyTooLarge) return responseOf(refusal('body-too-large'))
      throw error
    }
  }
}

async function run(session: Session, guard: FetchGuard, handle: () => unknown): Promise<Response> {
  let returned: unknown
  let held: { readonly answer: Answer; readonly stream?: ReadableStream<Uint8Array> }
  try {
    returned = await handle()
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

function hold(returned: unknown, limit: number): ReturnType<typeof answerOf> {
  if (isReply(returned)) return Promise.resolve({ answer: returned })
  if (returned instanceof Response) return answerOf(returned, limit)
  throw new ConfigurationError('A protected handler must return a Response, json(value, init) or reply(body, init)')
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
      return readLimited(request.clone().body, limit)
    },
  }
}
