// One call that survives a bad minute of the server's. Run: node examples/01-first-post/main.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'holdfast'
import { startServer } from './server.mjs'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-first-post-'))
process.env.HOLDFAST_DB = join(folder, 'operations.db') // otherwise .holdfast/operations.db, right here
const server = await startServer()

const client = createClient({ baseUrl: server.origin })

const call = client.post('/charges', { json: { amount: 5000 } })
console.log(`key       ${call.key}`)
console.log(`accepted  ${await call.accepted}`) // on disk: from here on it survives a crash
const charge = await call.json()
console.log(`answer    ${JSON.stringify(charge)}`)

await client.close()
await server.close()
rmSync(folder, { recursive: true })
