import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createRawServer, type Socket } from 'node:net'
import { answerIn, type ServerEvent } from './answer.ts'
import { playAnswer } from './play-answer.ts'
import { Ticket } from './ticket.ts'

/** Where a case finds its servers. */
export interface Places {
  /** The origin that answers, and that the page is of. */
  readonly home: string
  /** Another origin, which lets the page read its answers. */
  readonly away: string
  /** Nothing listens there. */
  readonly refused: string
}

/** Asks the servers about the run of a case, or tells them to go on with it: `seen`, `open`, `end`, `until/<event>`. */
export type Control = (ticket: string, what: string) => Promise<unknown>

export interface ParityServers {
  readonly control: Control
  readonly places: Places
  /** Serves this text at the home origin. */
  file(path: string, text: string): void
  close(): Promise<void>
}

/** The two servers of all cases, which share what they see. */
export async function parityServers(): Promise<ParityServers> {
  const tickets = new Map<string, Ticket>()
  const files = new Map<string, string>()
  const home = await listening((request, response) => {
    const path = request.url ?? ''
    const text = files.get(path)
    if (text !== undefined) {
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
      return void response.writeHead(200, { 'content-type': type }).end(text)
    }
    return answer(request, ticketOf(request, tickets))
  })
  const control: Control = (name, what) => controlTicket(tickets, name, what)
  const tell = async (path: string, response: ServerResponse): Promise<void> => {
    const [, , name = '', ...what] = path.split('/')
    const told = await control(name, what.join('/'))
    response
      .writeHead(200, { 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
      .end(JSON.stringify(told ?? null))
  }
  const away = await listening((request, response) => {
    if (request.url?.startsWith('/control/')) return tell(request.url, response)
    if (request.headers['access-control-request-method']) return void response.writeHead(204, openTo(request)).end()
    return answer(request, ticketOf(request, tickets))
  })
  for (const { server } of [home, away])
    server.on('clientError', (error, socket) => odd(error, socket as Socket, tickets))
  const deaf = await deafPort()
  return {
    control,
    places: { home: home.origin, away: away.origin, refused: `http://127.0.0.1:${deaf.port}` },
    file: (path, text) => void files.set(path, text),
    close: async () => void (await Promise.all([stop(home), stop(away), deaf.close()])),
  }
}

interface Listening {
  readonly server: Server
  readonly origin: string
}

async function listening(
  listener: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
): Promise<Listening> {
  const server = createServer((request, response) => {
    listener(request, response)?.catch(() => request.socket.destroy())
  })
  server.on('connection', (socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/**
 * A port that refuses connections: it is the near end of a connection. One that was only closed could be given to
 * another process at any time.
 */
async function deafPort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = createRawServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')])
  const close = async (): Promise<void> => {
    socket.destroy()
    ;(peer as Socket).destroy()
    server.close()
    await once(server, 'close')
  }
  return { port: socket.localPort ?? 0, close }
}

async function stop({ server }: Listening): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function ticketOf({ url = '' }: { readonly url?: string | undefined }, tickets: Map<string, Ticket>): Ticket {
  const [, name = 'none'] = /^\/(t\d+)\//.exec(url) ?? []
  const ticket = tickets.get(name) ?? new Ticket()
  tickets.set(name, ticket)
  return ticket
}

async function answer(request: IncomingMessage, ticket: Ticket): Promise<void> {
  const { socket, method, url = '' } = request
  const finished = ticket.take(request)
  const planned = answerIn(url)
  if (!planned.early && (await finished) === 'broken') return
  const headers = request.headers.origin ? Object.entries(openTo(request)) : []
  await playAnswer(planned, { socket, ticket, isHead: method === 'HEAD', self: url, headers })
}

/** A request with a method that Node's parser does not know. */
async function odd(error: Error, socket: Socket, tickets: Map<string, Ticket>): Promise<void> {
  const { code, rawPacket } = error as { code?: string; rawPacket?: Buffer }
  if (code !== 'HPE_INVALID_METHOD') return void socket.destroy()
  const [line = '', ...lines] = String(rawPacket).split('\r\n\r\n')[0]?.split('\r\n') ?? []
  const [method = '', url = ''] = line.split(' ')
  const rawHeaders = lines.flatMap((each) => each.split(/: ?(.*)/s).slice(0, 2))
  const ticket = ticketOf({ url }, tickets)
  ticket.takeOdd({ method, url, rawHeaders }, socket)
  await playAnswer(answerIn(url), { socket, ticket, isHead: false, self: url, headers: [] })
}

/** What lets a page of any origin read the answer, with its cookies too. */
function openTo({ headers }: IncomingMessage): Record<string, string> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': headers['access-control-request-method'] ?? '*',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
  }
}

async function controlTicket(tickets: Map<string, Ticket>, name: string, what: string): Promise<unknown> {
  const ticket = ticketOf({ url: `/${name}/` }, tickets)
  if (what === 'seen') return ticket.seen()
  if (what === 'open') return ticket.open()
  if (what !== 'end') return ticket.until(what.replace('until/', '') as ServerEvent)
  tickets.delete(name)
  return ticket.end()
}
