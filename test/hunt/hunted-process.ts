import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import type { Heard } from './hunt-judge.ts'
import { pause } from './pause.ts'

type Said = Heard & { readonly port?: number }

/** A program that is started again each time it has been killed. */
export class HuntedProcess {
  /** What it was told to post and has not come to the end of. */
  readonly posted = new Set<number>()
  readonly #program: string
  readonly #input: () => unknown
  readonly #onSaid: (said: Said) => void
  #child: LineProcess | undefined
  #port: number | undefined
  isReady = false
  isFrozen = false

  constructor(program: string, input: () => unknown, onSaid: (said: Said) => void) {
    this.#program = program
    this.#input = input
    this.#onSaid = onSaid
  }

  /** Where it listens, while it is up. */
  get port(): number | undefined {
    return this.#port
  }

  async start(): Promise<void> {
    const child = await startProgram(this.#program, this.#input())
    this.#child = child
    child.onLine((line) => this.#hear(child, JSON.parse(line) as Said))
    void child.ended.then(({ code }) => {
      if (code) this.#onSaid({ is: 'crashed' })
    })
  }

  post(number: number): void {
    this.posted.add(number)
    this.#child?.say(`post ${number}`)
  }

  /** An order and what belongs to it. */
  say(order: string): void {
    this.#child?.say(order)
  }

  /** Resolves when it has come to its end by itself, after all that is pending. */
  async finish(): Promise<void> {
    const child = this.#child
    if (!child) return
    child.say('finish')
    await child.until((line) => (JSON.parse(line) as Said).is === 'finished')
    await child.ended
  }

  /** SIGKILL. Gives back what it was told to post. */
  async kill(): Promise<number[]> {
    this.isReady = false
    this.#port = undefined
    await this.#child?.kill()
    return [...this.posted].filter((number) => this.posted.delete(number))
  }

  /** Stops in the middle of whatever it does, and goes on from there. */
  async freeze(ms: number): Promise<void> {
    const child = this.#child
    child?.signal('SIGSTOP')
    this.isFrozen = true
    await pause(ms)
    this.isFrozen = false
    if (!child?.isEnded) child?.signal('SIGCONT')
  }

  #hear(child: LineProcess, said: Said): void {
    if (said.is === 'ready' && child === this.#child) {
      this.isReady = true
      this.#port = said.port
    }
    if (said.number !== undefined && (said.is === 'answered' || said.is === 'gave up')) this.posted.delete(said.number)
    this.#onSaid(said)
  }
}
