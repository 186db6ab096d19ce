import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'

const execute = promisify(execFile)

/** A runtime as it is called. */
export interface Runtime {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
}

/** The packed package and the programs, in a folder that has no better-sqlite3 unless it is linked. */
export class RuntimeProject {
  readonly folder: string
  readonly #packed: PackedPackage

  private constructor(packed: PackedPackage) {
    this.#packed = packed
    this.folder = packed.project
  }

  static async create(): Promise<RuntimeProject> {
    const packed = await packPackage()
    // Deno resolves what is declared only.
    writeFileSync(join(packed.project, 'package.json'), '{ "private": true, "dependencies": { "holdfast": "*" } }')
    cpSync('test/runtimes/programs', packed.project, { recursive: true })
    const project = new RuntimeProject(packed)
    project.unlinkBetterSqlite()
    return project
  }

  /** What the program printed, read as JSON. Its journal is `<journal>.db`. */
  async run({ program, args }: Runtime, command: readonly string[], journal: string): Promise<unknown> {
    const options = { cwd: this.folder, env: this.#environment(journal), timeout: 150_000 }
    const { stdout } = await execute(program, [...args, ...command], options)
    return JSON.parse(stdout)
  }

  start({ program, args }: Runtime, command: readonly string[], journal: string): ChildProcess {
    const env = this.#environment(journal)
    return spawn(program, [...args, ...command], { cwd: this.folder, env, stdio: 'ignore' })
  }

  /** The better-sqlite3 of this repository, which is compiled for the Node that runs the tests. */
  linkBetterSqlite(): void {
    this.#packed.link('better-sqlite3')
  }

  unlinkBetterSqlite(): void {
    rmSync(join(this.folder, 'node_modules/better-sqlite3'), { force: true })
  }

  remove(): void {
    this.#packed.remove()
  }

  #environment(journal: string): NodeJS.ProcessEnv {
    const own = { HOLDFAST_DB: join(this.folder, `${journal}.db`), DENO_DIR: join(this.folder, 'deno') }
    return { ...process.env, ...own, DENO_NO_UPDATE_CHECK: '1', NODE_OPTIONS: '' }
  }
}
