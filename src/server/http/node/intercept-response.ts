import type { ServerResponse } from 'node:http'
import { rawHeaderList } from './node-request.ts'
import { setHeaders } from './send-answer.ts'

export type Done = (() => void) | undefined

/** Gets the handler's calls in place of the response. */
export interface ResponseListener {
  /** Called before each call. True: this and all later calls go to the response itself. */
  passes(): boolean
  /** False: the change is dropped. Throws where it comes too late. */
  takesHeaders(): boolean
  /** The head is complete; it need not be sent yet. */
  head(): void
  write(chunk: Buffer, done: Done): boolean
  end(chunk: Buffer | undefined, done: Done): void
  /** The handler destroys the response. */
  destroys(error: Error | undefined): void
  /** The connection is closed. False: `close` is not emitted yet. */
  closes(): boolean
  readonly headersSent: boolean
  readonly writableEnded: boolean
}

const METHODS = [
  'writeHead',
  'write',
  'end',
  'flushHeaders',
  'setHeader',
  'appendHeader',
  'removeHeader',
  'destroy',
  'emit',
] as const
type Method = (typeof METHODS)[number]

export interface Interception {
  /** The response's own methods, past the listener and past wrappers that were set after ours. */
  readonly own: Readonly<Record<Method, (...given: unknown[]) => unknown>>
  /** Later calls go to the response, through wrappers that were set after ours. */
  open(): void
  /** The response is as it was, without our methods and those wrappers. */
  stop(): void
}

/** Redirects the handler's calls to a listener. Wrappers that were set before ours stay. */
export function interceptResponse(res: ServerResponse, listener: ResponseListener): Interception {
  const before = Object.fromEntries(METHODS.map((name) => [name, res[name]]))
  const own = Object.fromEntries(METHODS.map((name) => [name, res[name].bind(res)])) as unknown as Interception['own']
  let isOpen = false
  const open = (): void => {
    isOpen = true
    for (const name of ['headersSent', 'writableEnded']) Reflect.deleteProperty(res, name)
  }
  const redirected = (name: Method, to: (...given: unknown[]) => unknown): [Method, unknown] => [
    name,
    (...given: unknown[]) => {
      if (!isOpen && listener.passes()) open()
      return isOpen ? own[name](...given) : to(...given)
    },
  ]
  const header = (name: Method): [Method, unknown] =>
    redirected(name, (...given) => (listener.takesHeaders() ? own[name](...given) : res))
  const end = (...given: unknown[]): ServerResponse => {
    listener.end(...written(given))
    return res
  }
  const destroy = (...given: unknown[]): ServerResponse => {
    listener.destroys(given[0] as Error | undefined)
    return res
  }
  const emit = (...event: unknown[]): unknown =>
    (isOpen || event[0] !== 'close' || listener.closes()) && own.emit(...event)
  const methods = [
    redirected('writeHead', (...given) => writeHead(res, listener, given)),
    redirected('write', (...given) => listener.write(...(written(given) as [Buffer, Done]))),
    redirected('end', end),
    redirected('flushHeaders', () => listener.head()),
    header('setHeader'),
    header('appendHeader'),
    header('removeHeader'),
    redirected('destroy', destroy),
    ['emit', emit] as const,
  ]
  Object.assign(res, Object.fromEntries(methods))
  Object.defineProperties(res, {
    headersSent: { configurable: true, get: () => listener.headersSent },
    writableEnded: { configurable: true, get: () => listener.writableEnded },
  })
  const stop = (): void => {
    open()
    Object.assign(res, before)
  }
  return { own, open, stop }
}

/** `(status, reason?, headers?)`, where the headers are an object, a list of pairs or a flat list. */
function writeHead(res: ServerResponse, listener: ResponseListener, given: readonly unknown[]): ServerResponse {
  const [status, reason] = given
  const headers = typeof reason === 'string' ? given[2] : (given[2] ?? reason)
  if (!listener.takesHeaders()) return res
  res.statusCode = checkStatus(status)
  if (typeof reason === 'string') res.statusMessage = reason
  if (Array.isArray(headers)) setHeaders(res, rawHeaderList(headers.flat() as string[]))
  else for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value as string)
  listener.head()
  return res
}

/** The platform's own error, but before anything is recorded. */
export function checkStatus(status: unknown): number {
  const number = Number(status)
  if (Number.isInteger(number) && number >= 200 && number <= 999) return number
  throw new RangeError(`Invalid status code: ${String(status)}`)
}

/** `(chunk?, encoding?, callback?)`, each of which may be left out. */
function written(given: readonly unknown[]): [Buffer | undefined, Done] {
  const done = given.find((one) => typeof one === 'function') as Done
  const [chunk, encoding] = given
  if (chunk === undefined || chunk === null || typeof chunk === 'function') return [undefined, done]
  // A copy: the handler may reuse the memory once the callback was called.
  if (typeof chunk !== 'string') return [Buffer.from(chunk as Uint8Array), done]
  return [Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'), done]
}
