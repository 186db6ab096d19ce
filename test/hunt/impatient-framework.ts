import type { LedgerGuard } from '../../src/server/guard/begin.ts'
import { fetchInbound, responseOf } from '../../src/server/http/fetch-handler.ts'
import type { Answer } from '../../src/server/http/port.ts'
import type { IdempotencyContext, Reply } from '../../src/server/index.ts'
import { pause } from './pause.ts'

type Handler = (request: Request, context: IdempotencyContext<unknown, unknown>) => Promise<Reply>

const TIMED_OUT: Answer = { status: 503, headers: [], body: null }
const FAILED: Answer = { status: 500, headers: [], body: null }

/** A framework that gives up on a handler now and then, answers in its place, and lets it go on. */
export function impatient(
  guard: LedgerGuard<unknown, unknown>,
  handler: Handler,
  onTimeout: () => void,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const inbound = fetchInbound(request, guard.maxRequestBytes)
    const begun = await guard.begin(inbound)
    if (begun.kind === 'answered') return responseOf(begun.answer)
    const { session } = begun
    const running = handler(inbound.unread(), session.context)
    const ended = running.then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    )
    const patience = Math.random() < 0.3 ? pause(Math.random() * 200) : new Promise<void>(() => {})
    const first = await Promise.race([ended, patience])
    if (!first) {
      onTimeout()
      return responseOf(
        await session.complete(
          TIMED_OUT,
          running.catch(() => undefined),
        ),
      )
    }
    if ('reply' in first) return responseOf(await session.complete(first.reply))
    return responseOf((await session.fail(first.error, { answer: FAILED })) ?? FAILED)
  }
}
