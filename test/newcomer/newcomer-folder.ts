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

/** Not of the tests, nor of the npm that has started them. */
function isOfMachine([name]: [string, unknown]): boolean {
  return !/^(npm_config_user_agent|NODE_OPTIONS|NODE_ENV|HOLDFAST_.*|VITEST.*)$/.test(name)
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
    const PATH = dirname(this.#node) + delimiter + process.env.PATH
    const env = { ...Object.fromEntries(Object.entries(process.env).filter(isOfMachine)), PATH, ...environment }
    return execute(command, args, { cwd: this.path, env, timeout: 600_000 }).then(
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
