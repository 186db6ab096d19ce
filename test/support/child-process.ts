import { type ChildProcess, spawn } from 'node:child_process'

/** Processes that a test has started and that have not ended. */
const running = new Set<LineProcess>()

// A process that is frozen does not see that its standard input has ended.
process.on('exit', () => {
  for (const one of running) one.signal('SIGKILL')
})

/** Ends what is left, each by its own id. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((one) => one.kill()))
}

/**
 * A process that speaks in lines, and ends when its standard input does: if the test dies, so do its children.
 */
export class LineProcess {
  readonly process: ChildProcess
  readonly lines: string[] = []
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly #listeners = new Set<() => void>()
  #isEnded = false

  constructor(args: readonly string[], command = process.execPath) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    running.add(this)
    this.ended = new Promise((resolve) => {
      this.process.once('close', (code, signal) => {
        running.delete(this)
        this.#isEnded = true
        resolve({ code, signal })
        this.#wake()
      })
    })
    let rest = ''
    this.process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      this.lines.push(...parts)
      this.#wake()
    })
    // A line to a process that was killed a moment ago.
    this.process.stdin?.on('error', () => {})
  }

  get pid(): number {
    return this.process.pid ?? 0
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Calls back with every line, also with those that were said before. */
  onLine(listener: (line: string) => void): void {
    let next = 0
    const tell = (): void => {
      while (next < this.lines.length) listener(this.lines[next++] ?? '')
    }
    this.#listeners.add(tell)
    tell()
  }

  /** The first line that fits, said already or still to come. */
  async until(fits: (line: string) => boolean): Promise<string> {
    for (let next = 0; ; ) {
      while (next < this.lines.length) {
        const line = this.lines[next++] ?? ''
        if (fits(line)) return line
      }
      if (this.#isEnded) throw new Error(`The process ended without saying it; it said:\n${this.lines.join('\n')}`)
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener)
          resolve()
        }
        this.#listeners.add(listener)
      })
    }
  }

  say(line: string): void {
    this.process.stdin?.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal)
  }

  /** SIGKILL, and the certainty that it is gone. */
  async kill(): Promise<void> {
    if (this.#isEnded) return
    this.process.kill('SIGKILL')
    await this.ended
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
