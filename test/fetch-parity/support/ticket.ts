import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SeenRequest, ServerEvent } from './answer.ts'
import { bytesSight, headersSight } from './bytes.ts'

const PATIENCE_MS = 3000

/** Connection-level names, and what Holdfast adds on purpose. */
const LEFT_OUT = new Set([
  'host',
  'connection',
  'keep-alive',
  'do-not-retry',
  'holdfast-attempt',
  'request-timeout-ms',
  'repeatability-first-sent',
])

/** Of a request that Node's parser takes, or of one that it does not. */
export type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'method' | 'url'>

/** The server's side of one run of one case. */
export class Ticket {
  readonly #requests: { request: RequestHead; chunks: Buffer[]; finished: Promise<'end' | 'broken'> }[] = []
  readonly #events = new Set<ServerEvent>()
  readonly #sockets = new Set<Socket>()
  readonly #watchers = new Set<() => void>()
  #opened = 0

  note(event: ServerEvent): void {
    this.#events.add(event)
    this.#wakeAll()
  }

  /** Takes a request on record; gives a promise of its end. */
  take(request: IncomingMessage): Promise<'end' | 'broken'> {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      this.note('chunk')
    })
    const finished = new Promise<'end' | 'broken'>((resolve) => {
      request.on('end', () => resolve('end'))
      request.on('close', () => resolve(request.complete ? 'end' : 'broken'))
      request.on('error', () => resolve('broken'))
    })
    void finished.then((event) => this.note(event))
    this.#requests.push({ request, chunks, finished })
    this.#sockets.add(request.socket)
    this.note('head')
    return finished
  }

  /** Takes one that has no body, and that Node's parser refused. */
  takeOdd(request: RequestHead, socket: Socket): void {
    this.#requests.push({ request, chunks: [], finished: Promise.resolve('end') })
    this.#sockets.add(socket)
  }

  open(): void {
    this.#opened++
    this.#wakeAll()
  }

  /** Resolves when the case has opened the gate once more. */
  async gate(): Promise<void> {
    await this.#until(() => this.#opened > 0)
    this.#opened--
  }

  /** Says whether it happened within the time that the server is willing to wait. */
  async until(event: ServerEvent): Promise<string> {
    const patience = new Promise<string>((resolve) => setTimeout(resolve, PATIENCE_MS, 'never'))
    return Promise.race([this.#until(() => this.#events.has(event)).then(() => event), patience])
  }

  async seen(): Promise<SeenRequest[]> {
    const patience = new Promise<'broken'>((resolve) => setTimeout(resolve, PATIENCE_MS, 'broken'))
    return Promise.all(
      this.#requests.map(async ({ request, chunks, finished }) => {
        const isBroken = (await Promise.race([finished, patience])) === 'broken'
        return { ...headOf(request), body: bytesSight(Buffer.concat(chunks)), ...(isBroken && { broken: true }) }
      }),
    )
  }

  /** Cuts what is still open. */
  end(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#watchers.add(resolve))
  }

  #wakeAll(): void {
    for (const wake of this.#watchers) wake()
    this.#watchers.clear()
  }
}

function headOf({ method = '', url = '', rawHeaders }: RequestHead): Omit<SeenRequest, 'body'> {
  const pairs: [string, string][] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    pairs.push([String(rawHeaders[index]), String(rawHeaders[index + 1])])
  return { method, url, headers: headersSight(pairs, LEFT_OUT) }
}
