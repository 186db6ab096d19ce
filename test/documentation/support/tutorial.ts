import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, blocksOf, root } from './pages.ts'

const PAGE = 'docs/tutorial.md'
const SETTING_UP = ['mkdir payments && cd payments', 'npm init -y']
const INSTALL = 'npm install '
/** What a reader types in the first terminal; everything else is for the second one. */
const SERVER = 'node server.mjs'
/** As a shell says it. */
const KILLED = 'Killed'

export interface Printed {
  readonly line: number
  readonly said: string
  readonly shown: string
}

/** What is done with the blocks of the tutorial, one after the other, as its reader would. */
export class Tutorial {
  /** What the page shows as output, and what was printed instead. */
  readonly outputs: Printed[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-tutorial-'))
  readonly #env: NodeJS.ProcessEnv
  #server: ChildProcess | undefined
  #printed = ''

  static async open(): Promise<Tutorial> {
    return new Tutorial(await freePort())
  }

  private constructor(port: number) {
    const { HOLDFAST_DB: _, ...inherited } = process.env
    this.#env = { ...inherited, PORT: String(port), PAYMENTS: `http://127.0.0.1:${port}`, NODE_OPTIONS: '' }
    mkdirSync(join(this.#folder, 'node_modules'))
  }

  async follow(onLine: (line: string) => void = () => {}): Promise<void> {
    for (const block of blocksOf({ path: PAGE, text: readFileSync(join(root, PAGE), 'utf8') })) {
      const [, file] = /^js file (\S+)$/.exec(block.info) ?? []
      if (file) writeFileSync(join(this.#folder, file), block.code)
      else if (block.info === 'sh step') await this.#type(block, onLine)
      else if (block.info === 'text output') this.#compare(block)
    }
  }

  async close(): Promise<void> {
    await this.#stopServer()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #type({ code }: Block, onLine: (line: string) => void): Promise<void> {
    this.#printed = ''
    for (const command of code.trim().split('\n')) {
      if (SETTING_UP.includes(command)) continue
      onLine(`$ ${command}`)
      if (command.startsWith(INSTALL)) this.#install(command.slice(INSTALL.length).split(' '))
      else if (command.endsWith(SERVER)) await this.#startServer(command, onLine)
      else await this.#run(command, onLine)
    }
  }

  /** From this repository instead of the registry. */
  #install(packages: readonly string[]): void {
    for (const name of packages) {
      const from = name === 'holdfast' ? root : join(root, 'node_modules', name)
      symlinkSync(from, join(this.#folder, 'node_modules', name), 'dir')
    }
  }

  async #startServer(command: string, onLine: (line: string) => void): Promise<void> {
    await this.#stopServer()
    this.#server = spawn(process.execPath, ['server.mjs'], {
      cwd: this.#folder,
      env: { ...this.#env, ...set(command) },
    })
    this.#server.once('exit', (_, signal) => signal === 'SIGKILL' && onLine(KILLED))
    await once(this.#server.stdout ?? this.#server, 'data')
  }

  async #stopServer(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGINT')
    await once(server, 'exit')
  }

  async #run(command: string, onLine: (line: string) => void): Promise<void> {
    const args = command.replace(/^.*?\bnode /, '').split(' ')
    const printed = await new Promise<string>((resolve) => {
      const options = { cwd: this.#folder, env: { ...this.#env, ...set(command) }, timeout: 30_000 }
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        if (error?.signal === 'SIGKILL') onLine(KILLED)
        resolve(stdout + stderr)
      })
    })
    this.#printed += printed
    for (const line of printed.split('\n').filter(Boolean)) onLine(line)
  }

  #compare({ code, line }: Block): void {
    this.outputs.push({ line, said: this.#printed, shown: code })
  }
}

/** `CRASH=answer node …` sets CRASH. */
function set(command: string): Record<string, string> {
  return Object.fromEntries(
    [...command.matchAll(/\b([A-Z]+)=(\w+)/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
