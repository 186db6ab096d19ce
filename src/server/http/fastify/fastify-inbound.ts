import type { FastifyRequest } from 'fastify'
import { bodyOf, nodeBody } from '../node/node-body.ts'
import { fieldsOf, targetOf } from '../node/node-inbound.ts'
import type { Inbound, InboundBody } from '../port.ts'

/** A request of Fastify in plain values. */
export function fastifyInbound(request: FastifyRequest, limit: number): Inbound<FastifyRequest> {
  return {
    native: request,
    method: request.method.toUpperCase(),
    ...targetOf(request.raw),
    headers: fieldsOf(request.raw.rawHeaders),
    body: () => fastifyBody(request, limit),
  }
}

/** What Fastify has parsed; the stream where it left that to the handler, as it does with forms. */
function fastifyBody({ body, raw }: FastifyRequest, limit: number): InboundBody | Promise<InboundBody> {
  if (body === undefined || isStream(body)) return nodeBody(raw, limit)
  // The text `null`, or nothing at all.
  return body === null && !raw.readableDidRead ? null : bodyOf(body)
}

function isStream(value: unknown): boolean {
  return typeof (value as { pipe?: unknown } | null)?.pipe === 'function'
}
