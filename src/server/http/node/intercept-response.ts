import { ServerResponse } from 'node:http'
import { rawHeaderList } from './node-request.ts'
import { setHeaders } from './send-answer.ts'

export type Done = (() => void) | undefined

/** Gets the handler's calls in place of the response. */
export interface ResponseListener {
  /** Called before each call. True: this and all later calls go to the response itself. */
  passes(): boolean
  /** False: the change is dropped. Throws if it comes too late. */
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
type Call = (...given: unknown[]) => unknown

/**
 * Stands between the wrappers that were set before it, towards the connection, and those that middleware behind the
 * ledger sets later, towards the handler. The later ones stay in place for the whole exchange: sessions, cookies and
 * compression do their work in them.
 */
export interface Interception {
  /** The response's own methods, past the listener and past wrappers that were set after ours. */
  readonly own: Readonly<Record<Method, Call>>
  /** Sends the head, which `change` may change first. Later calls still go to the listener. */
  sendHead(change: () => void): void
  /** Later calls go to the response. */
  open(): void
  /** Like `open`, but once the response has ended, later calls are ignored: they are not about this answer. */
  seal(): void
  /**
   * Removes our methods together with the later wrappers, which have begun an answer that is dropped: the bytes that
   * they still send, as compression does in its own time, are not about the answer that follows.
   */
  stop(): void
}

/** Redirects the handler's calls to a listener. */
export function interceptResponse(res: ServerResponse, listener: ResponseListener): Interception {
  const before = Object.fromEntries(METHODS.map((name) => [name, res[name]]))
  const own = ownMethods(res)
  let isOpen = false
  let isSealed = false
  let isStopped = false
  const open = (): void => {
    isOpen = true
    for (const name of Object.keys(properties)) Reflect.deleteProperty(res, name)
  }
  const isIgnored = (name: Method): boolean => name !== 'destroy' && (isStopped || (isSealed && res.writableEnded))
  const redirected = (name: Method, to: Call): [Method, Call] => [
    name,
    (...given) => {
      if (!isOpen && listener.passes()) open()
      if (!isOpen) return to(...given)
      return isIgnored(name) ? ignored(res, name, given) : own[name](...given)
    },
  ]
  const methods = Object.entries(listened(res, listener, own)).map(([name, to]) => redirected(name as Method, to))
  const isHeld = (event: unknown): boolean =>
    !isOpen && (event === 'finish' || (event === 'close' && !listener.closes()))
  const emit: Call = (...event) => !isHeld(event[0]) && own.emit(...event)
  Object.assign(res, Object.fromEntries(methods), { emit })
  const properties = {
    headersSent: { configurable: true, get: () => listener.headersSent },
    writableEnded: { configurable: true, get: () => listener.writableEnded },
    // Sessions and compression call the platform's own method, which fails if the head is complete but was not sent.
    _implicitHeader: { configurable: true, value: () => impliedHead(res) },
  }
  Object.defineProperties(res, properties)
  const sendHead = (change: () => void): void => {
    open()
    change()
    own.writeHead(res.statusCode)
    own.flushHeaders()
    isOpen = false
    Object.defineProperties(res, properties)
  }
  const seal = (): void => {
    open()
    isSealed = true
  }
  const stop = (): void => {
    open()
    isStopped = true
    Object.assign(res, before)
  }
  return { own, sendHead, open, seal, stop }
}

function ownMethods(res: ServerResponse): Interception['own'] {
  // HTTP/2 lacks some of them in older versions of Node.
  const entries = METHODS.map((name): [string, Call] => [name, (res[name] as Call | undefined)?.bind(res) as Call])
  const own = Object.fromEntries(entries) as Record<Method, Call>
  if (isHttp1(res)) return own
  // `end` of HTTP/2 gives its chunk to `res.write`, which later wrappers have replaced.
  const { end } = own
  return {
    ...own,
    end: (...given) => {
      const [chunk, done] = written(given)
      if (chunk) own.write(chunk)
      if (done) res.once('finish', done)
      return end()
    },
  }
}

/** HTTP/2's are alike, but of a class of their own. */
export function isHttp1(res: unknown): boolean {
  return res instanceof ServerResponse
}

/** How the listener takes each call. */
function listened(res: ServerResponse, listener: ResponseListener, own: Interception['own']): Record<string, Call> {
  const header =
    (name: Method): Call =>
    (...given) =>
      listener.takesHeaders() ? own[name](...given) : res
  return {
    writeHead: (...given) => writeHead(res, listener, given),
    write: (...given) => listener.write(...(written(given) as [Buffer, Done])),
    end: (...given) => {
      listener.end(...written(given))
      return res
    },
    flushHeaders: () => impliedHead(res),
    setHeader: header('setHeader'),
    appendHeader: header('appendHeader'),
    removeHeader: header('removeHeader'),
    destroy: (...given) => {
      listener.destroys(given[0] as Error | undefined)
      return res
    },
  }
}

/** As the platform does it: by `res.writeHead`, which wrappers use to add their headers last. */
export function impliedHead(res: ServerResponse): void {
  if (!res.headersSent) res.writeHead(res.statusCode)
}

function ignored(res: ServerResponse, name: Method, given: readonly unknown[]): unknown {
  const isBody = name === 'write' || name === 'end'
  if (isBody) taken(written(given)[1])
  return name === 'write' ? true : res
}

/** The chunk is taken: the handler may go on. */
export function taken(done: Done): true {
  if (done) queueMicrotask(done)
  return true
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
export function written(given: readonly unknown[]): [Buffer | undefined, Done] {
  const done = given.find((one) => typeof one === 'function') as Done
  const [chunk, encoding] = given
  if (chunk === undefined || chunk === null || typeof chunk === 'function') return [undefined, done]
  // A copy: the handler may reuse the memory once the callback was called.
  if (typeof chunk !== 'string') return [Buffer.from(chunk as Uint8Array), done]
  return [Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'), done]
}
