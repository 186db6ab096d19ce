import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { inject } from 'vitest'
import { closeAtEnd } from './closing.ts'
import { doors, driverScript, packageScript, packages } from './page-scripts.ts'

const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries([
    ...[...doors].map(([door, file]) => [door, `/holdfast/${file}`]),
    ...packages.map((name) => [name, `/packages/${name}.js`]),
  ]),
})

/** Lets the one import map of the pages through where inline scripts are forbidden. */
export const IMPORT_MAP_HASH = `'sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}'`

const HTML = `<!doctype html>
<html lang="en">
<head>
<title>page</title>
<script type="importmap">${IMPORT_MAP}</script>
<script type="module" src="/driver.js"></script>
</head>
</html>`

export interface PageOptions {
  /** The value of the `Content-Security-Policy` header. */
  readonly policy?: string
  /** Default: an empty page that has the driver. */
  readonly html?: string
}

export interface Pages {
  readonly origin: string
  /** The same pages under another origin, of another site. */
  readonly otherOrigin: string
  /** Adds a page and gives its path. */
  page(options?: PageOptions): string
  /** Serves this text as a script. */
  script(path: string, text: string): void
  /** Answers this path with a redirect that keeps method and body, for callers of any origin. */
  redirect(path: string, to: string): void
}

const scripts = new Map<string, Promise<string>>()

/** Made once per file of tests, when it is first asked for. */
function scriptAt(path: string): Promise<string> {
  const made = scripts.get(path) ?? makeScript(path)
  scripts.set(path, made)
  return made
}

function makeScript(path: string): Promise<string> {
  if (path === '/driver.js') return driverScript()
  const [, name] = /^\/packages\/(.*)\.js$/.exec(path) ?? []
  if (name && packages.includes(name)) return packageScript(name)
  return readFile(join(inject('packageUnderTest'), normalize(path.replace('/holdfast/', '/'))), 'utf8')
}

function redirect(request: IncomingMessage, response: ServerResponse, to: string): void {
  const allowed = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*, authorization',
    'access-control-allow-methods': '*',
  }
  response.writeHead(request.method === 'OPTIONS' ? 204 : 307, { ...allowed, location: to }).end()
}

/** Serves the package as plain modules, and pages that use it; until the test ends. */
export async function servePages(): Promise<Pages> {
  const served = new Map<string, { text: string; headers: Record<string, string> }>()
  const redirects = new Map<string, string>()
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://page').pathname
    const to = redirects.get(path)
    if (to !== undefined) return redirect(request, response, to)
    const page = served.get(path)
    if (page) return void response.writeHead(200, page.headers).end(page.text)
    const text = await scriptAt(path).catch(() => undefined)
    if (text === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAtEnd(async () => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://localhost:${port}`,
    otherOrigin: `http://127.0.0.1:${port}`,
    page({ policy, html = HTML } = {}) {
      const path = `/page-${served.size}.html`
      const headers = { 'content-type': 'text/html', ...(policy && { 'content-security-policy': policy }) }
      served.set(path, { text: html, headers })
      return path
    },
    redirect: (path, to) => void redirects.set(path, to),
    script(path, text) {
      served.set(path, { text, headers: { 'content-type': 'text/javascript' } })
    },
  }
}
