// A shop in a browser whose orders survive a bad server, a reload and a crash. Run: npm run demo:browser
import { startApi } from './api.mjs'
import { startPages } from './server.mjs'

const api = await startApi()
const pages = await startPages({ api: api.origin })
api.allow(pages.origin)

console.log(`the shop         ${pages.origin}`)
console.log(`its API          ${api.origin}  (another origin: every request is subject to CORS)`)
console.log('Open the shop in a browser; end with Ctrl+C.')

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
