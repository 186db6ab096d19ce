// Runs in a process of its own, so that everything that is counted here is the client's: prints what calls cost, as JSON.
import { createHook } from 'node:async_hooks'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, memoryJournal } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'

const CONCURRENT = 64

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}'))
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const baseUrl = `http://127.0.0.1:${server.address().port}`

/** A journal that counts its transactions, and how many of them have an append. */
function counted(journal) {
  const counts = { transactions: 0, withAppends: 0 }
  const execute = (commands) => {
    counts.transactions++
    // Without a namespace it is the state of an origin, which is written with the others while answers are slow.
    if (commands.some((command) => command.do === 'append' && command.row.namespace !== '')) counts.withAppends++
    return journal.execute(commands)
  }
  return {
    counts,
    journal: { ...journal, level: journal.level, open: () => journal.open(), execute, close: () => journal.close() },
  }
}

let promises = 0
const counter = createHook({
  init(_id, type) {
    if (type === 'PROMISE') promises++
  },
})

async function promisesOf(call) {
  for (let n = 0; n < 50; n++) await call()
  await sleep(20)
  promises = 0
  counter.enable()
  await call()
  counter.disable()
  // The wait of this very function is not the client's.
  return promises - 1
}

/** Every commit of a WAL file is one wait for the disk: its last frame has the size of the database. */
function commitsIn(wal) {
  const bytes = readFileSync(wal)
  const frame = 24 + bytes.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= bytes.length; at += frame) if (bytes.readUInt32BE(at + 4) > 0) commits++
  return commits
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-cost-'))
const path = join(folder, 'operations.db')
const inMemory = counted(memoryJournal())
const onDisk = counted(sqliteJournal({ path }))
const clients = {
  memory: createClient({ baseUrl, journal: inMemory.journal }),
  sqlite: createClient({ baseUrl, journal: onDisk.journal }),
}
const post = (client) => () => client.post('/x', { json: { a: 1 } }).json()

const result = {
  promises: {
    get: await promisesOf(() => clients.memory.get('/x').json()),
    post: await promisesOf(post(clients.memory)),
    postToDisk: await promisesOf(post(clients.sqlite)),
  },
}

await clients.sqlite.flush()
Object.assign(onDisk.counts, { transactions: 0, withAppends: 0 })
const before = commitsIn(`${path}-wal`)
await Promise.all(Array.from({ length: CONCURRENT }, post(clients.sqlite)))
await clients.sqlite.flush()
result.concurrent = { posts: CONCURRENT, ...onDisk.counts, commits: commitsIn(`${path}-wal`) - before }

await Promise.all([clients.memory.close(), clients.sqlite.close()])
await onDisk.journal.close()
await new Promise((closed) => server.close(closed))
rmSync(folder, { recursive: true })
await sleep(50)
result.left = process.getActiveResourcesInfo().filter((kind) => kind !== 'TTYWrap' && kind !== 'PipeWrap')
process.stdout.write(JSON.stringify(result))
