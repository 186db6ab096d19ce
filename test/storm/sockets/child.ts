import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { programFile } from '../../support/child-program.ts'

type ProgramName =
  | 'server-program'
  | 'clients-program'
  | 'blips/blip-server-program'
  | 'blips/blip-client-program'
  | 'backlog/backlog-program'

/** A program of this folder in a process of its own, which takes orders and answers each with one message. */
export class Child {
  readonly #process: ChildProcess

  private constructor(process: ChildProcess) {
    this.#process = process
  }

  static async start(name: ProgramName): Promise<Child> {
    const file = await programFile(`../storm/sockets/${name}`)
    // Times may be infinite, which JSON can't say.
    return new Child(fork(file, { execArgv: ['--enable-source-maps'], serialization: 'advanced' }))
  }

  async ask<Answer>(order: object): Promise<Answer> {
    const ended = new AbortController()
    const died = once(this.#process, 'exit', { signal: ended.signal }).then(([code]) => {
      throw new Error(`The process of a trial ended with ${code}`)
    })
    const answered = once(this.#process, 'message', { signal: ended.signal })
    this.#process.send(order)
    try {
      const [answer] = await Promise.race([answered, died])
      return answer as Answer
    } finally {
      died.catch(() => {})
      answered.catch(() => {})
      ended.abort()
    }
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    await ended
  }
}
