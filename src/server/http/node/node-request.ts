import type { IncomingMessage } from 'node:http'
import { ConfigurationError } from '../../../errors/classes.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { BodyTooLarge } from '../../admission/check-request.ts'
import { formAlreadyRead } from '../buffered-body.ts'
import type { Inbound, InboundBody } from '../port.ts'

/** A request of `node:http`, Express or Connect in plain values. */
export function nodeInbound<Req extends IncomingMessage>(req: Req, limit: number): Inbound<Req> {
  return {
    native: req,
    method: (req.method ?? 'GET').toUpperCase(),
    ...targetOf(req),
    headers: rawHeaderList(req.rawHeaders),
    body: () => nodeBody(req, limit),
  }
}

/** Routers cut their mount path from `url`; the whole is in `originalUrl`. */
export function targetOf(req: { readonly url?: string | undefined; readonly originalUrl?: unknown }): {
  readonly path: string
  readonly query: string
} {
  const given = typeof req.originalUrl === 'string' ? req.originalUrl : (req.url ?? '/')
  // In a request to a proxy it begins with the host.
  const target = given.replace(/^https?:\/\/[^/?]*/i, '')
  const at = target.indexOf('?')
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) }
}

/** A field that came twice is there twice. */
export function rawHeaderList(raw: readonly string[]): HeaderList {
  const fields: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) fields.push([String(raw[at]).toLowerCase(), String(raw[at + 1])])
  return fields
}

/** What body parsers set; some hosts also keep the bytes. */
interface Parsed {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** From the stream where it was not read yet, else what a parser has left. */
export function nodeBody(req: IncomingMessage & Parsed, limit: number): InboundBody | Promise<InboundBody> {
  if (!hasBody(req)) return null
  if (!req.readableDidRead) return readAndPutBack(req, limit)
  if (req.rawBody instanceof Uint8Array) return req.rawBody
  if (isMultipart(req)) throw formAlreadyRead()
  if (req.body === undefined) throw alreadyRead()
  return inboundBody(req.body)
}

/** What a parser has made of a body, as it goes into the fingerprint. */
export function inboundBody(parsed: unknown): InboundBody {
  if (parsed === undefined) return null
  if (parsed instanceof Uint8Array) return parsed
  return typeof parsed === 'string' ? Buffer.from(parsed) : { json: parsed }
}

/** Puts the bytes back before the stream emits `end`, so that the next reader gets all of them. */
async function readAndPutBack(req: IncomingMessage, limit: number): Promise<Uint8Array | null> {
  const bytes = await readAll(req, limit)
  return bytes.length === 0 ? null : bytes
}

function readAll(req: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    const stop = (settle: () => void): void => {
      req.off('readable', read).off('error', cutOff).off('close', cutOff)
      settle()
    }
    const cutOff = (error?: Error): void =>
      stop(() => reject(error ?? new Error('The caller hung up before the whole request had come')))
    const read = (): void => {
      // A read of an empty stream at its end would emit `end`.
      while (req.readableLength > 0 && size <= limit) {
        const chunk = req.read() as Buffer
        chunks.push(chunk)
        size += chunk.length
      }
      if (size > limit) stop(() => reject(drained(req)))
      else if (isWhole(req)) stop(() => resolve(putBack(req, Buffer.concat(chunks))))
    }
    if (isWhole(req) && req.readableLength === 0) return resolve(Buffer.alloc(0))
    if (req.destroyed) return cutOff()
    req.on('readable', read).on('error', cutOff).on('close', cutOff)
  })
}

/** Has all of it come? An HTTP/2 request knows that only once its `end` was emitted; the stream below it, before. */
function isWhole(req: IncomingMessage): boolean {
  const { stream } = req as { stream?: { readonly readableEnded?: boolean } }
  return req.complete || stream?.readableEnded === true
}

/** The rest is read and dropped, as the platform does with a body that was not begun: else the connection stands still. */
function drained(req: IncomingMessage): BodyTooLarge {
  req.resume()
  return new BodyTooLarge()
}

/** In the same tick: in the next one, `end` has been emitted. */
function putBack(req: IncomingMessage, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  req.unshift(bytes)
  // The whole body is here: a caller that hangs up now must not take it from the handler.
  const { destroy } = req
  req.destroy = (error?: Error & { readonly code?: string }) =>
    error?.code === 'ECONNRESET' && !req.readableEnded ? req : destroy.call(req, error)
  return bytes
}

/** HTTP/2 requires neither of the headers. */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return (
    httpVersionMajor > 1 || headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  )
}

/** Has the caller closed its connection? If not, a closed one was destroyed here. */
export function hasHungUp(req: IncomingMessage): boolean {
  const { stream } = req as { stream?: { readonly rstCode?: number } }
  return stream ? stream.rstCode === HTTP2_CANCEL : req.socket.readableEnded || req.socket.errored !== null
}

/** What a reset stream has for a code, if its caller or the whole connection is gone. */
const HTTP2_CANCEL = 8

export function isMultipart({ headers }: IncomingMessage): boolean {
  return /^multipart\//i.test(headers['content-type'] ?? '')
}

function alreadyRead(): ConfigurationError {
  return new ConfigurationError(
    'The body was read before the ledger saw it, and nothing is left in `req.body`: put the ledger before what reads it, ' +
      'or use a parser that sets `req.body`, such as express.json()',
  )
}
