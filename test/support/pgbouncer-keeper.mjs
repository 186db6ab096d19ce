/**
 * A process of its own that keeps one PgBouncer in transaction mode for a run of tests: says its port on stdout, and ends
 * it and removes its folder as soon as its stdin ends. Its one argument, in JSON: the program, the URL of the Postgres
 * behind it, and what each of its connections says there first.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const { program, url, connectQuery } = JSON.parse(process.argv[2])
const folder = mkdtempSync(join(tmpdir(), 'holdfast-pgbouncer-'))
// As root, PgBouncer runs as another user, who has to read its settings.
chmodSync(folder, 0o755)
const isRoot = process.getuid?.() === 0
const log = []
let bouncer

process.stdin.on('error', () => {})
process.on('exit', () => {
  bouncer?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

try {
  process.stdout.write(`${JSON.stringify({ port: await started() })}\n`)
  await once(process.stdin.resume(), 'end')
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: error.message })}\n`)
}
process.exit()

/** Another program may take the port between the look and the start: then once more. */
async function started() {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      await start(port)
      return port
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}

async function start(port) {
  bouncer = spawn(program, [settingsFor(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const lines = createInterface({ input: bouncer.stderr })
  for await (const line of lines) {
    log.push(line)
    if (!/process up/.test(line)) continue
    // Nothing stops it from talking.
    bouncer.stderr.resume()
    return
  }
  throw new Error(`PgBouncer has ended: ${log.slice(-3).join(' ')}`)
}

function settingsFor(port) {
  const { hostname, port: target, username, password, pathname } = new URL(url)
  const names = join(folder, 'users.txt')
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(names, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`)
  const query = connectQuery ? ` connect_query='${connectQuery}'` : ''
  const lines = [
    '[databases]',
    `${pathname.slice(1)} = host=${hostname} port=${target || 5432}${query}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = md5',
    `auth_file = ${names}`,
    'pool_mode = transaction',
    'max_client_conn = 500',
    'default_pool_size = 40',
    // Soon after Postgres is back, so is it.
    'server_login_retry = 0.1',
    ...(isRoot ? ['user = nobody'] : []),
  ]
  writeFileSync(settings, lines.join('\n'))
  return settings
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
