import { fileURLToPath } from 'node:url'
import { LineProcess } from './child-process.ts'

const PROGRAM = fileURLToPath(new URL('./counting-server.mjs', import.meta.url))

/** What can happen to a request. */
export type Fate =
  | 'answer'
  | 'lose'
  | 'reset'
  | 'unavailable'
  | 'slow'
  | 'hang'
  | 'work-and-hang'
  | 'stall'
  | 'do-not-retry'

export interface Mode {
  /** Only for this path; otherwise for all that have no mode of their own. */
  readonly path?: string
  /** The next requests, one after the other. */
  readonly script?: readonly Fate[]
  /** All others, by dice. */
  readonly weights?: Partial<Record<Fate, number>>
  readonly seed?: number
}

export interface CountedOperation {
  readonly path: string
  readonly requests: number
  readonly effects: number
  /** Epoch milliseconds. */
  readonly effectsAt: readonly number[]
  /** Answers given by the work itself, and from the record of it. */
  readonly fresh: number
  readonly replayed: number
  /** Hashes of the distinct bodies that came with the key. */
  readonly bodies: readonly string[]
}

export interface CountingReport {
  readonly requests: number
  readonly effects: number
  readonly replays: number
  readonly complaints: readonly string[]
  /** How often each fate was met. */
  readonly fates: Readonly<Partial<Record<Fate, number>>>
  readonly operations: Readonly<Record<string, CountedOperation>>
}

/** The judge, in a process of its own. */
export class CountingServer {
  readonly process: LineProcess
  readonly origin: string

  private constructor(child: LineProcess, port: number) {
    this.process = child
    this.origin = `http://127.0.0.1:${port}`
  }

  /** `effects` is the file that the server keeps its effects in. */
  static async start(effects: string, port = 0): Promise<CountingServer> {
    const child = new LineProcess([PROGRAM, effects, String(port)])
    const line = await child.until((said) => said.startsWith('listening '))
    return new CountingServer(child, Number(line.split(' ')[1]))
  }

  get port(): number {
    return Number(new URL(this.origin).port)
  }

  async mode(mode: Mode): Promise<void> {
    await fetch(`${this.origin}/mode`, { method: 'PUT', body: JSON.stringify(mode) })
  }

  /** Reads on where it had stalled; what a dead client left in the pipe comes to its end. */
  async flow(): Promise<void> {
    await fetch(`${this.origin}/flow`, { method: 'PUT' })
  }

  async report(): Promise<CountingReport> {
    const response = await fetch(`${this.origin}/report`)
    return (await response.json()) as CountingReport
  }

  /** The same, and the end: after it nothing is done and nobody is answered. */
  async lastReport(): Promise<CountingReport> {
    const response = await fetch(`${this.origin}/last-report`)
    return (await response.json()) as CountingReport
  }

  /** What was counted under one path: one operation, if the client kept its key. */
  async at(path: string): Promise<CountedOperation[]> {
    const { operations } = await this.report()
    return Object.values(operations).filter((operation) => operation.path === path)
  }

  stop(): Promise<void> {
    return this.process.kill()
  }
}
