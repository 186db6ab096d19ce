import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { httpServer } from '../../support/transport-servers.ts'

export interface EventServer {
  readonly origin: string
  readonly requests: readonly unknown[]
  /** What comes after the first event: the others, or the end of the connection. */
  goOn(how: 'to the end' | 'by a cut'): void
  /** Have all events been sent? */
  isDone(): boolean
  /** Resolves when the connection of the request is gone. */
  readonly gone: Promise<unknown>
  close(): Promise<void>
}

/** Sends the first event at once, and then waits. */
export async function eventServer(events: readonly string[]): Promise<EventServer> {
  const signals = new EventEmitter()
  const gone = once(signals, 'gone')
  let done = false
  const goOn = (response: ServerResponse, how: string): void => {
    if (how === 'by a cut') return void response.socket?.destroy()
    for (const event of events.slice(1)) response.write(event)
    done = true
    response.end()
  }
  const server = await httpServer((_, response) => {
    response.on('close', () => signals.emit('gone'))
    signals.once('go on', (how: string) => goOn(response, how))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events[0])
  })
  return {
    origin: server.origin,
    requests: server.seen,
    goOn: (how) => void signals.emit('go on', how),
    isDone: () => done,
    gone,
    close: () => server.close(),
  }
}
