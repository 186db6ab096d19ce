import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerOrder, ServerReport } from './server-program.ts'

const PROGRAM = fileURLToPath(new URL('./server-program.ts', import.meta.url))

/** The process with the server. It ends with this one. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly origin: string

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.origin = `http://127.0.0.1:${port}`
  }

  static async start(): Promise<ServerProcess> {
    // Times may be infinite, which JSON can't say.
    const child = fork(PROGRAM, { execArgv: ['--import', 'tsx'], serialization: 'advanced' })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    return new ServerProcess(child, port)
  }

  begin(order: ServerOrder): void {
    this.#child.send(order)
  }

  async report(): Promise<ServerReport> {
    const told = once(this.#child, 'message')
    this.#child.send('report')
    const [report] = (await told) as [ServerReport]
    return report
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
