import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Done after the test, last first. */
export function later(cleanup: () => unknown): void {
  onTestFinished(async () => void (await cleanup()))
}

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const driver = createRequire(import.meta.url).resolve('better-sqlite3')

/** Another process that runs a piece of CommonJS with `Database`, `arg` and `say(line)` at hand. */
export class Neighbour {
  readonly process: ChildProcess
  readonly #lines: string[] = []
  #wake = (): void => {}

  constructor(script: string, ...args: string[]) {
    const prelude = `const Database = require(${JSON.stringify(driver)}); const arg = process.argv[1]; const say = (line) => process.stdout.write(line + '\\n');`
    this.process = spawn(process.execPath, ['-e', prelude + script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    later(() => this.process.kill('SIGKILL'))
    let rest = ''
    this.process.stdout?.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      this.#lines.push(...parts)
      this.#wake()
    })
  }

  /** The next line it says. */
  async line(): Promise<string> {
    while (this.#lines.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#lines.shift() ?? ''
  }

  /** What it says at last, once it has ended by itself. */
  async end(): Promise<number | null> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return this.process.exitCode
    return new Promise((resolve) => this.process.once('exit', resolve))
  }
}

/** Holds the write lock of a file for the given time, in another process. Resolves once it has the lock. */
export async function holdWriteLock(path: string, ms: number): Promise<Neighbour> {
  const script = `const db = new Database(arg); db.exec('BEGIN IMMEDIATE'); say('locked'); setTimeout(() => db.exec('COMMIT'), ${ms})`
  const neighbour = new Neighbour(script, path)
  await neighbour.line()
  return neighbour
}

/** Runs the work and tells the longest time in which no timer could fire. */
export async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now()
  let longest = 0
  const tick = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 5)
    last = now
  }
  const timer = setInterval(tick, 5)
  try {
    await work()
    tick()
  } finally {
    clearInterval(timer)
  }
  return longest
}

/** A disk of one megabyte, or undefined where this user may not mount one. */
export function smallDisk(): string | undefined {
  const folder = join(scratchFolder(), 'disk')
  mkdirSync(folder)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
  if (status !== 0) return undefined
  later(() => spawnSync('umount', ['-l', folder]))
  return folder
}

/** Makes a folder and the given file in it read-only, for root too. */
export function makeReadOnly(folder: string, file: string): void {
  const mounted = spawnSync('mount', ['--bind', folder, folder]).status === 0
  if (mounted) {
    later(() => spawnSync('umount', ['-l', folder]))
    spawnSync('mount', ['-o', 'remount,bind,ro', folder])
    return
  }
  chmodSync(file, 0o444)
  chmodSync(folder, 0o555)
  later(() => chmodSync(folder, 0o755))
}
