// Serves the page and the modules that it imports, as they are: nothing is bundled.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const at = (path) => new URL(path, import.meta.url)

/** What may be read besides the client, by the start of its address. */
const FOLDERS = [
  ['/modules/uuid/', at('../../node_modules/uuid/dist/esm-browser/')],
  ['/modules/idb-keyval/', at('../../node_modules/idb-keyval/dist/')],
  ['/', at('./')],
]
const TYPES = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  map: 'application/json',
}

/** `client` is the folder of its browser build. */
export async function startPages({ api, client = at('../../dist/browser/'), port = 0 }) {
  const folders = [['/modules/holdfast/', client], ...FOLDERS]
  const html = (await readFile(at('index.html'), 'utf8')).replace('{api}', api)
  const headers = { 'content-security-policy': policy(html, api), 'x-content-type-options': 'nosniff' }
  const serve = async (request, response) => {
    const { pathname } = new URL(request.url, 'http://pages')
    const content = pathname === '/' ? html : await load(pathname, folders)
    const type = TYPES[pathname === '/' ? 'html' : pathname.split('.').at(-1)]
    if (content === undefined || !type) return response.writeHead(404, headers).end('not found')
    response.writeHead(200, { ...headers, 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' })
    response.end(content)
  }
  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => closed(server) }
}

/** Only files of ours, only the API; the one inline script is the import map, known by its hash. */
function policy(html, api) {
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(importMap).digest('base64')
  const connect = `connect-src ${api}`
  const script = `script-src 'self' 'sha256-${hash}'`
  const rest = "style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return `default-src 'none'; ${script}; ${connect}; ${rest}`
}

/** undefined where there is no such file. */
async function load(pathname, folders) {
  const [start, folder] = folders.find(([prefix]) => pathname.startsWith(prefix))
  try {
    const file = new URL(`./${pathname.slice(start.length)}`, folder)
    return file.href.startsWith(folder.href) ? await readFile(fileURLToPath(file)) : undefined
  } catch {
    return undefined
  }
}

async function closed(server) {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
}
