import type { IncomingMessage } from 'node:http'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { Inbound } from '../port.ts'
import { nodeBody } from './node-body.ts'

/** A request of `node:http`, Express or Connect in plain values. */
export function nodeInbound<Req extends IncomingMessage>(req: Req, limit: number): Inbound<Req> {
  return {
    native: req,
    method: (req.method ?? 'GET').toUpperCase(),
    ...targetOf(req),
    headers: fieldsOf(req.rawHeaders),
    body: () => nodeBody(req, limit),
  }
}

/** Routers cut the part that they are mounted at from `url`; the whole is in `originalUrl`. */
export function targetOf(req: { readonly url?: string | undefined; readonly originalUrl?: unknown }): {
  readonly path: string
  readonly query: string
} {
  const given = typeof req.originalUrl === 'string' ? req.originalUrl : (req.url ?? '/')
  // Said to a proxy, it comes with the host.
  const target = given.replace(/^https?:\/\/[^/?]*/i, '')
  const at = target.indexOf('?')
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) }
}

/** As they came: a field that was given twice is there twice. */
export function fieldsOf(raw: readonly string[]): HeaderList {
  const fields: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) fields.push([String(raw[at]).toLowerCase(), String(raw[at + 1])])
  return fields
}
