import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeAtEnd } from '../support/closing.ts'

/** The side channel on which pages tell how far they are. Each of them has a name, and with it a host of its own. */
export interface Gate {
  /** Where the page of this name asks. A browser opens six connections to one host, and a page may hold one for ever. */
  readonly originFor: (name: string) => string
  /** What was told, `what` by `what`. */
  readonly heard: (what: string) => readonly string[]
  /** Does the page of this name stand still? */
  readonly hasStopped: (name: string) => boolean
}

export async function openGate(): Promise<Gate> {
  const heard = new Map<string, string[]>()
  const stopped = new Set<string>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://gate')
    const what = url.pathname.slice(1)
    if (what === 'at') {
      stopped.add(String(request.headers.host).split('.')[0] ?? '')
      return
    }
    heard.set(what, [...(heard.get(what) ?? []), decodeURIComponent(url.search.slice(1))])
    response.writeHead(204, { 'access-control-allow-origin': '*' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAtEnd(async () => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    originFor: (name) => `http://${name}.localhost:${port}`,
    heard: (what) => heard.get(what) ?? [],
    hasStopped: (name) => stopped.has(name),
  }
}
