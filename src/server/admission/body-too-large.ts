import type { InboundBody } from '../http/port.ts'

/** A request's body is larger than `maxRequestBytes`. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}

const encoder = new TextEncoder()

/** What a parser has left counts as JSON spells it: its bytes are gone. */
export function checkBodySize(body: InboundBody, limit: number): void {
  if (body === null) return
  const bytes = body instanceof Uint8Array ? body : encoder.encode(JSON.stringify(body.json))
  if (bytes.length > limit) throw new BodyTooLarge()
}
