// Bundles the page and serves it; takes orders, once for each key, unless it was told to be down.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createLedger, memoryLedger } from 'holdfast/server'
import { nodeHandler } from 'holdfast/server/node'

const PAGE =
  '<!doctype html><html lang="en"><title>Bakery</title><div id="root"></div><script src="/app.js"></script></html>'

export async function startShop() {
  const script = await bundlePage()
  const shop = { down: false, requests: [], taken: [] }
  // 'public' on purpose: the bakery knows no log-in. With one: the account of the verified session.
  const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
  const takeOrder = nodeHandler(ledger, async (request, response) => {
    shop.taken.push(JSON.parse(await text(request)))
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ count: shop.taken.length }))
  })
  const server = createServer(async (request, response) => {
    if (request.url === '/app.js') return send(response, 'text/javascript', script)
    if (request.url === '/') return send(response, 'text/html', PAGE)
    if (request.url === '/server') shop.down = (await text(request)) === 'down'
    if (request.url !== '/orders') return response.writeHead(204).end()
    shop.requests.push(request.headers['idempotency-key'])
    return shop.down ? response.writeHead(503).end() : takeOrder(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => new Promise((closed) => server.close(closed).closeAllConnections())
  return Object.assign(shop, { origin: `http://127.0.0.1:${server.address().port}`, close })
}

function send(response, type, content) {
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content)
}

async function bundlePage() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('app.jsx', import.meta.url))],
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: 'automatic',
    bundle: true,
    minify: true,
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0].text
}
