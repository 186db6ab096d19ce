import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ExampleServer {
  readonly url: string
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/**
 * What the pages talk to, on loopback. It honours keys: the first request with a key makes an answer, later ones get
 * the same again. `/busy` answers 503 to the first request with a key, `/declined` refuses, `/stop` says not to retry.
 */
export async function exampleServer(): Promise<ExampleServer> {
  const answers = new Map<string, Answer>()
  const seen = new Set<string>()
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key'] ?? '')
    const first = !seen.has(key)
    seen.add(key)
    request.resume().on('end', () => {
      const known = key ? answers.get(key) : undefined
      if (known) return send(response, { ...known, headers: { 'idempotency-replayed': 'true' } })
      const answer = answerTo(request, { first, number: answers.size + 1 })
      if (key && answer.status < 500) answers.set(key, answer)
      send(response, answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) }
}

function answerTo({ method, url }: IncomingMessage, { first, number }: { first: boolean; number: number }): Answer {
  if (method === 'GET') return { status: 200, body: { ok: true } }
  if (url === '/busy' && first) return { status: 503, body: { error: 'busy' } }
  if (url === '/declined') return { status: 402, body: { error: 'card_declined' } }
  if (url === '/stop') return { status: 503, headers: { 'do-not-retry': 'true' }, body: { error: 'down' } }
  return { status: 201, body: { id: number, status: 'created' } }
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
