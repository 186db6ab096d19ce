import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeAtEnd } from './closing.ts'

export interface CaptivePortal {
  readonly url: string
  readonly visits: () => number
}

/** The page of a network that wants people to log in first. `open`: it allows every origin and every header. */
export async function captivePortal(manners: 'open' | 'closed'): Promise<CaptivePortal> {
  let visits = 0
  const everything = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    'access-control-allow-methods': '*',
  }
  const server = createServer((request, response) => {
    if (request.method !== 'OPTIONS') visits++
    response.writeHead(200, { 'content-type': 'text/html', ...(manners === 'open' && everything) })
    response.end('<!doctype html><title>Welcome to our hotel</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAtEnd(async () => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/login`, visits: () => visits }
}
