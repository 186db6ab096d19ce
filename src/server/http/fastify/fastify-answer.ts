import type { FastifyReply } from 'fastify'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { Reply } from '../../entry/reply.ts'
import type { Session } from '../../guard/session.ts'
import { byName, headerListOf, isOwn, type OwnAnswer, ownHeaders } from '../own-headers.ts'
import type { Answer, UnheldAnswer } from '../port.ts'
import { holdPayload } from './fastify-payload.ts'

/** A request on its way through Fastify. */
export interface Exchange {
  readonly session: Session
  /** What was said in front of us. It goes with every answer, recorded or not, and is not recorded. */
  readonly front: HeaderList
  readonly limit: number
  /** What was thrown; Fastify has made an answer of it by the time we see that. */
  error?: unknown
  /** What the handler has returned, where that was a reply. */
  reply?: Reply
}

export function headersOf(reply: FastifyReply): HeaderList {
  return headerListOf(reply.getHeaders())
}

/** The payload that goes out in place of the one that is about to. */
export async function settle(exchange: Exchange, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const { session, front } = exchange
  if (exchange.error !== undefined && session.isFailure(reply.statusCode)) {
    const instead = await session.fail(exchange.error)
    return instead ? replaceBy(reply, front, instead) : payload
  }
  if (exchange.reply) return replaceBy(reply, front, await session.complete(exchange.reply))
  if (session.decides) return settleHeld(exchange, reply, payload)
  await session.complete({ status: reply.statusCode, headers: [], body: null })
  return payload
}

async function settleHeld(
  { session, front, limit }: Exchange,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { body, stream } = await holdPayload(payload, reply, limit)
  const headers = ownHeaders(headersOf(reply), front)
  const answer: OwnAnswer = { status: reply.statusCode, headers, body, own: true }
  const unheld: OwnAnswer & UnheldAnswer = { ...answer, unheld: true }
  const outgoing = await session.complete(stream === undefined ? answer : unheld)
  if (!isOwn(outgoing)) {
    stop(stream)
    return replaceBy(reply, front, outgoing)
  }
  for (const [name] of headers) reply.removeHeader(name)
  setHeaders(reply, outgoing.headers)
  return stream ?? bodyOf(outgoing)
}

/** Takes back what the handler has said, and says this. */
export function replaceBy(reply: FastifyReply, front: HeaderList, answer: Answer): Buffer | null {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  setHeaders(reply, front)
  setHeaders(reply, answer.headers)
  reply.code(answer.status)
  return bodyOf(answer)
}

function setHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (const [name, values] of byName(headers)) {
    // Fastify adds to cookies that are there.
    reply.removeHeader(name)
    reply.header(name, values.length > 1 ? values : values[0])
  }
}

function bodyOf({ body }: Answer): Buffer | null {
  return body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Nobody is going to read it. */
function stop(stream: unknown): void {
  const { destroy, cancel } = (stream ?? {}) as { destroy?: () => void; cancel?: () => Promise<void> }
  if (destroy) destroy.call(stream)
  else cancel?.call(stream).catch(() => {})
}
