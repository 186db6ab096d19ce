import { fork } from 'node:child_process'
import { once } from 'node:events'

/** The plain server in a process of its own. `folder`: files that it serves besides, such as a page. */
export async function startServer(folder = '') {
  const server = fork(new URL('./server.mjs', import.meta.url), [folder], { execArgv: [] })
  const [{ port }] = await once(server, 'message')
  return { base: `http://127.0.0.1:${port}`, stop: () => server.disconnect() }
}
