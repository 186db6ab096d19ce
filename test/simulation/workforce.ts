import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Coverage } from '../../src/testing/simulation/coverage.ts'
import type { FailedHistory, SimulationProgress, SimulationReport } from '../../src/testing/simulation/simulate.ts'
import type { SimulationArguments } from './arguments.ts'

/** A block of seeds for one worker. */
export interface Assignment {
  readonly seed: number
  readonly histories: number
  readonly without: readonly string[]
}

const BLOCK = 250
const FAILURES_THAT_STOP = 3

/** Deals the seeds of a run out to several processes and adds up what they tell. */
export class Workforce {
  readonly #terms: SimulationArguments
  readonly #onProgress: (progress: SimulationProgress) => void
  readonly #coverage = new Coverage()
  readonly #failed: FailedHistory[] = []
  readonly #startedAt = Date.now()
  #dealt = 0
  #sums = { histories: 0, crashes: 0, resumes: 0, requests: 0, retries: 0 }

  constructor(terms: SimulationArguments, onProgress: (progress: SimulationProgress) => void) {
    this.#terms = terms
    this.#onProgress = onProgress
  }

  async run(): Promise<SimulationReport> {
    await Promise.all(Array.from({ length: this.#terms.workers }, () => this.#worker()))
    const missing = this.#coverage.missing()
    return { ...this.#progress(), failed: this.#failed, coverage: this.#coverage.counts, missing }
  }

  #worker(): Promise<void> {
    // Histories are short and leave much behind: a roomy nursery spares the collector most of its work.
    const execArgv = [...process.execArgv, '--max-semi-space-size=64']
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), { execArgv })
    return new Promise((resolve, reject) => {
      child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}`))))
      child.on('message', (report: SimulationReport) => {
        this.#add(report)
        this.#deal(child)
      })
      this.#deal(child)
    })
  }

  #deal(child: ChildProcess): void {
    const { histories, seed, minutes, without } = this.#terms
    const over = Date.now() - this.#startedAt >= minutes * 60_000 || this.#failed.length >= FAILURES_THAT_STOP
    const size = Math.min(BLOCK, histories - this.#dealt)
    if (over || size <= 0) {
      child.disconnect()
      return
    }
    const assignment: Assignment = { seed: seed + this.#dealt, histories: size, without }
    this.#dealt += size
    child.send(assignment)
  }

  #add(report: SimulationReport): void {
    const sums = this.#sums
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += report[name]
    this.#coverage.add(report.coverage)
    this.#failed.push(...report.failed)
    this.#onProgress(this.#progress())
  }

  #progress(): SimulationProgress {
    const { histories: of } = this.#terms
    return { ...this.#sums, of, elapsedMs: Date.now() - this.#startedAt, failures: this.#failed.length }
  }
}
