import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** An empty folder, and the Node that its owner has. */
export class NewcomerFolder {
  readonly path: string
  readonly #node: string

  constructor(node: string, path = mkdtempSync(join(tmpdir(), 'holdfast-newcomer-'))) {
    this.#node = node
    this.path = path
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true })
    writeFileSync(join(this.path, name), text)
  }

  /** The newcomer's own Node comes first in the path, also for what a package manager starts. */
  run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const { HOLDFAST_DB: _ours, ...inherited } = process.env
    const PATH = dirname(this.#node) + delimiter + inherited.PATH
    const env = { ...inherited, NODE_OPTIONS: '', NODE_ENV: '', PATH, ...environment }
    return execute(command, args, { cwd: this.path, env, timeout: 280_000 }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error) => ({ code: Number(error.code) || 1, stdout: String(error.stdout), stderr: String(error.stderr) }),
    )
  }

  node(...args: string[]): (environment: NodeJS.ProcessEnv) => Promise<Ran> {
    return (environment) => this.run(this.#node, args, environment)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
