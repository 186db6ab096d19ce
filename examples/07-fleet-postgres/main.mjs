// Three workers share one journal in Postgres. One is killed, and the others finish its work. Run: npm run demo:fleet
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startDatabase } from './database.mjs'
import { Story } from './story.mjs'

const ORDERS = 30
const FATAL = 17 // as soon as this one is in the journal, its worker is killed
const story = new Story(ORDERS)
const children = []

function start(program, ...args) {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), args)
  children.push(child)
  return child
}
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

const server = start('server.mjs')
const [{ origin }] = await once(server, 'message')
server.on('message', ({ applied }) => story.applied(applied))
story.say(`a server that loses answers, resets connections and is often unavailable: ${origin}`)
story.say('a Postgres with the journal of all workers: starting')
const database = await startDatabase()

const workers = [1, 2, 3].map((name) => ({ name, child: start('worker.mjs', origin, database.url) }))
for (const { name, child } of workers) {
  story.worker(name, child.pid)
  child.on('message', (message) => story.heard(name, message))
}
await Promise.all(workers.map(({ child }) => once(child, 'message'))) // each is ready

/** The workers get them in turns, as behind a load balancer. */
function hand(order) {
  const worker = workers[order % workers.length]
  story.hand(order, worker.name)
  worker.child.send({ order })
  return worker
}

for (let order = 1; order <= ORDERS; order++, await pause(100)) {
  const { name, child } = hand(order)
  if (order !== FATAL) continue
  await story.accepted(FATAL)
  child.kill('SIGKILL')
  await once(child, 'exit')
  workers.splice(name - 1, 1)
  // Handed to it and not accepted: its id makes it safe to hand it to another one.
  for (const unaccepted of story.killed(name)) hand(unaccepted)
}
await story.allSettled
story.table()
await database.stop()
process.exit(story.verdict() ? 0 : 1)
