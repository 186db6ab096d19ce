import type { Context } from 'hono'
import type { HeaderList } from '../../../protocol/headers.ts'
import { isReply } from '../../entry/reply.ts'
import type { Session } from '../../guard/session.ts'
import { answerOf, type HeldResponse, responseOf } from '../fetch/fetch-answer.ts'
import { ownHeaders } from '../own-headers.ts'

/** A request on its way through Hono. */
export interface Exchange {
  readonly c: Context
  /** What was said in front of us. It goes with every answer, recorded or not, and is not recorded. */
  readonly front: HeaderList
  readonly limit: number
}

/** Runs what is behind us. Gives what goes out; undefined where Hono's response is to be left as it is. */
export async function settle(
  { c, front, limit }: Exchange,
  session: Session,
  next: () => Promise<void>,
): Promise<HeldResponse | undefined> {
  let held: HeldResponse
  try {
    await next()
    // Hono has answered an error by now.
    if (c.error && session.isFailure(c.res.status)) throw c.error
    if (!session.decides && !isReply(c.res)) return await letThrough(session, c.res)
    held = isReply(c.res) ? { answer: c.res } : await answerOf(c.res, limit)
  } catch (error) {
    const answer = await session.fail(error)
    if (answer) return { answer }
    if (error === c.error) return undefined
    throw error
  }
  const headers = ownHeaders(held.answer.headers, front)
  const outgoing = await session.complete({ ...held.answer, headers })
  if ('unheld' in outgoing && held.stream) return { answer: outgoing, stream: held.stream }
  await held.stream?.cancel()
  return { answer: outgoing }
}

async function letThrough(session: Session, { status }: Response): Promise<undefined> {
  await session.complete({ status, headers: [], body: null })
}

/** Replaces the response. Taken away first: Hono would write the fields of the old one over the new one's. */
export function answerWith({ c, front }: Exchange, { answer, stream }: HeldResponse): void {
  const said = new Set(answer.headers.map(([name]) => name))
  const headers = [...front.filter(([name]) => !said.has(name)), ...answer.headers]
  c.res = undefined
  c.res = responseOf({ ...answer, headers }, stream)
}
