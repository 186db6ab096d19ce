// Mutations of TanStack Query that survive a reload. Run: node examples/09-react-query/main.mjs
import { startShop } from './server.mjs'

const shop = await startShop()

console.log(`the shop  ${shop.origin}`)
console.log('Take the server down, order, reload the page, bring the server up again. End with Ctrl+C.')

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
