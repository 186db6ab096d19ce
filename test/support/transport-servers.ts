import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net'

/** What a server has seen of a request. */
export interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer {
  readonly origin: string
  readonly port: number
  readonly seen: Seen[]
  close(): Promise<void>
}

/** Reads each request to its end, notes it, then lets the listener answer. */
export async function httpServer(listener: RequestListener): Promise<TestServer> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      listener(request, response)
    })
  })
  return listen(server, seen, () => server.closeAllConnections())
}

/** Hands over each connection when the head of a request has arrived on it. */
export async function rawServer(onRequest: (socket: Socket, head: string) => void): Promise<TestServer> {
  const sockets = new Set<Socket>()
  const server = createRawServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      const head = chunk.toString('latin1')
      if (head.includes('\r\n\r\n')) onRequest(socket, head)
    })
  })
  return listen(server, [], () => {
    for (const socket of sockets) socket.destroy()
  })
}

/** A port where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = await rawServer(() => {})
  await server.close()
  return server.port
}

async function listen(server: Server | ReturnType<typeof createRawServer>, seen: Seen[], cut: () => void) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      cut()
    })
  return { origin: `http://127.0.0.1:${port}`, port, seen, close }
}
