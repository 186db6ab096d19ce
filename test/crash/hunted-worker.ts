import type { LineProcess } from '../support/child-process.ts'
import type { Heard } from './hunt-ledger.ts'

/** What a process tells so soon after it was frozen may have been decided before. */
const AFTERMATH_MS = 1000

/** One process of a hunt: what it was told to post, and what it says. */
export class HuntedWorker {
  readonly child: LineProcess
  /** What it was told to post and has not come to the end of. */
  readonly posted = new Set<number>()
  #isReady = false
  #frozen = { from: 0, until: 0 }

  constructor(child: LineProcess) {
    this.child = child
  }

  get isReady(): boolean {
    return this.#isReady
  }

  onSaid(listener: (said: Heard) => void): void {
    this.child.onLine((line) => {
      const said = JSON.parse(line) as Heard
      this.#isReady = true
      const isEnd = said.is === 'answered' || said.is === 'gave up'
      if (isEnd && said.number !== undefined) this.posted.delete(said.number)
      listener(this.#timed(said))
    })
  }

  post(number: number): void {
    this.posted.add(number)
    this.child.say(`post ${number}`)
  }

  /** Its journal fails for so long. */
  blink(ms: number): void {
    this.child.say(`blink ${ms}`)
  }

  /** Stops in the middle of whatever it does, and goes on from there. False: it stands still already. */
  freeze(ms: number): boolean {
    const now = Date.now()
    if (!this.#isReady || this.child.isEnded || now < this.#frozen.until) return false
    this.#frozen = { from: now, until: now + ms }
    this.child.signal('SIGSTOP')
    setTimeout(() => this.child.isEnded || this.child.signal('SIGCONT'), ms)
    return true
  }

  /** A process that tells of no effect right after its sleep has known that before it. */
  #timed(said: Heard): Heard {
    const { from, until } = this.#frozen
    if (said.effect !== 'none' || said.at === undefined) return said
    return said.at >= from && said.at < until + AFTERMATH_MS ? { ...said, at: from } : said
  }
}
