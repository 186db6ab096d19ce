import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSecureServer, type Http2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { certificates } from '../../support/tls-certificates.ts'
import { closeAtEnd } from './closing.ts'

export interface HoldingApiOptions {
  readonly speaks: 'http/1.1' | 'h2'
  /** Does it show the timing of its answers, and so its protocol, to pages of other origins? */
  readonly showsTiming?: boolean
}

export interface HoldingApi {
  readonly origin: string
  /** Requests that have come, preflights not counted. */
  readonly requests: number
  /** How many of them have no answer yet. */
  readonly held: number
  /** Answers all of them. */
  release(): void
  /** From now on every request is answered as it comes. */
  releaseAll(): void
}

/** For both protocols the same. */
type Request = Pick<Http2ServerRequest, 'method'>
type Response = Pick<Http2ServerResponse, 'writeHead' | 'end'>

/** An API that answers when it is told to. */
export async function holdingApi({ speaks, showsTiming }: HoldingApiOptions): Promise<HoldingApi> {
  const held: (() => void)[] = []
  let requests = 0
  let isHolding = true
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    'access-control-allow-methods': '*',
    'access-control-max-age': '600',
    ...(showsTiming && { 'timing-allow-origin': '*' }),
  }
  const serve = ({ method }: Request, response: Response): void => {
    if (method === 'OPTIONS') {
      response.writeHead(204, headers)
      return void response.end()
    }
    requests++
    const answer = (): void => {
      response.writeHead(201, { ...headers, 'content-type': 'application/json' })
      response.end('{}')
    }
    if (isHolding) held.push(answer)
    else answer()
  }
  const release = (): void => {
    for (const answer of held.splice(0)) answer()
  }
  return {
    origin: speaks === 'h2' ? await listenOnHttp2(serve) : await listenOnHttp1(serve),
    get requests() {
      return requests
    },
    get held() {
      return held.length
    },
    release,
    releaseAll() {
      isHolding = false
      release()
    },
  }
}

type Serve = (request: Request, response: Response) => void

async function listenOnHttp1(serve: Serve): Promise<string> {
  const server = createServer((request, response) => serve(request as Request, response as unknown as Response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAtEnd(async () => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The browser has to be told to ignore who has signed the certificate. */
async function listenOnHttp2(serve: Serve): Promise<string> {
  const server = createSecureServer({ key: certificates.key, cert: certificates.trusted }, serve)
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAtEnd(async () => {
    for (const session of sessions) session.destroy()
    await new Promise((closed) => (server as Http2Server).close(closed))
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
