// A shop is killed in the middle of its work, and nobody is charged twice. Run: npm run demo
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Story } from './story.mjs'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'))
const story = new Story()
const children = []

function start(program, ...args) {
  const env = { ...process.env, HOLDFAST_DB: join(folder, 'operations.db') }
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), args, { env })
  children.push(child)
  return child
}

function cleanUp() {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.on('exit', cleanUp)
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

/** Resolves once so many charges are settled. */
function untilSettled(shop, count) {
  return new Promise((resolve, reject) => {
    shop.on('message', (message) => {
      story.shop(message)
      if (story.settled >= count) resolve()
    })
    shop.on('exit', () => reject(new Error('the shop ended too early')))
  })
}

const server = start('server.mjs')
const [{ origin }] = await once(server, 'message')
server.on('message', (message) => story.server(message))
story.say(`a payment server that loses answers, resets connections and is often unavailable: ${origin}`)

const shop = start('shop.mjs', origin)
story.say(`a shop, process ${shop.pid}, posts 20 charges to it`)
story.say()
await untilSettled(shop, 7)
shop.kill('SIGKILL')
story.killed(shop.pid)

const again = start('shop.mjs', origin)
story.say(`the shop starts again, process ${again.pid}, and resumes`)
story.say()
await untilSettled(again, 20)
story.table()
process.exit(story.verdict() ? 0 : 1)
