import type { IncomingMessage } from 'node:http'
import { ConfigurationError } from '../../../errors/classes.ts'
import { BodyTooLarge } from '../../admission/body-too-large.ts'
import type { InboundBody } from '../port.ts'

/** Where parsers leave what they made of a body; some hosts keep its bytes too. */
interface Parsed {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** The body of a request: from the stream where nobody has read it yet, else what a parser has left. */
export function nodeBody(req: IncomingMessage & Parsed, limit: number): InboundBody | Promise<InboundBody> {
  if (!hasBody(req)) return null
  if (!req.readableDidRead) return readAndPutBack(req, limit)
  if (req.rawBody instanceof Uint8Array) return req.rawBody
  if (isMultipart(req) || req.body === undefined) throw alreadyRead(req)
  return bodyOf(req.body)
}

/** What a parser has made of a body, in the form that is compared. */
export function bodyOf(parsed: unknown): InboundBody {
  if (parsed === undefined) return null
  if (parsed instanceof Uint8Array) return parsed
  return typeof parsed === 'string' ? Buffer.from(parsed) : { json: parsed }
}

/**
 * Reads the stream to its end and puts the bytes back before the end is told, so that whoever comes next finds it as
 * if nobody had been there.
 */
async function readAndPutBack(req: IncomingMessage, limit: number): Promise<Uint8Array | null> {
  const bytes = await readAll(req, limit)
  return bytes.length === 0 ? null : bytes
}

function readAll(req: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    const over = (settle: () => void): void => {
      req.off('readable', read).off('error', cutOff).off('close', cutOff)
      settle()
    }
    const cutOff = (error?: Error): void =>
      over(() => reject(error ?? new Error('The caller hung up before the whole request had come')))
    const read = (): void => {
      // A read of an empty stream at its end would tell the end.
      while (req.readableLength > 0 && size <= limit) {
        const chunk = req.read() as Buffer
        chunks.push(chunk)
        size += chunk.length
      }
      if (size > limit) over(() => reject(drained(req)))
      else if (req.complete) over(() => resolve(putBack(req, Buffer.concat(chunks))))
    }
    if (req.complete && req.readableLength === 0) return resolve(Buffer.alloc(0))
    if (req.destroyed) return cutOff()
    req.on('readable', read).on('error', cutOff).on('close', cutOff)
  })
}

/** The rest is read and dropped, as the platform does with a body that was not begun: else the connection stands still. */
function drained(req: IncomingMessage): BodyTooLarge {
  req.resume()
  return new BodyTooLarge()
}

/** At once: a tick later the end has been told. */
function putBack(req: IncomingMessage, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  req.unshift(bytes)
  // All of it is here: a caller who hangs up now does not take it from the handler.
  const { destroy } = req
  req.destroy = (error?: Error & { readonly code?: string }) =>
    error?.code === 'ECONNRESET' && !req.readableEnded ? req : destroy.call(req, error)
  return bytes
}

/** HTTP/2 needs to say neither. */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return (
    httpVersionMajor > 1 || headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  )
}

/** Files are not in `req.body`: two different uploads would look the same. */
function isMultipart({ headers }: IncomingMessage): boolean {
  return /^multipart\//i.test(headers['content-type'] ?? '')
}

function alreadyRead(req: IncomingMessage): ConfigurationError {
  return new ConfigurationError(
    isMultipart(req)
      ? 'A form with files was read before the ledger saw it: put the ledger before what reads the form'
      : 'The body was read before the ledger saw it, and nothing is left in `req.body`: put the ledger before what reads it, or use a parser that sets `req.body`, such as express.json()',
  )
}
