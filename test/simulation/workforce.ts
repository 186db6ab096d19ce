import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Coverage, type CoverageCounts } from '../../src/testing/simulation/coverage.ts'
import type { FailedHistory, SimulationProgress, SimulationReport } from '../../src/testing/simulation/simulate.ts'
import type { StateFile } from '../support/state-file.ts'
import type { SimulationArguments } from './arguments.ts'

/** A block of seeds for one worker. */
export interface Assignment {
  readonly seed: number
  readonly histories: number
  readonly without: readonly string[]
}

/** What a state file keeps of a run: the blocks that are done, by their first history and size, and what came of them. */
export interface RunProgress {
  readonly done: readonly (readonly [from: number, size: number])[]
  readonly sums: Sums
  readonly coverage: CoverageCounts
  readonly failed: readonly FailedHistory[]
  readonly elapsedMs: number
}

type Sums = typeof NOTHING

const NOTHING = { histories: 0, crashes: 0, resumes: 0, requests: 0, retries: 0 }
const BLOCK = 250
const FAILURES_THAT_STOP = 3

/** Deals the seeds of a run out to several processes and adds up what they tell. Blocks that were done before are left out. */
export class Workforce {
  readonly #terms: SimulationArguments
  readonly #state: StateFile<RunProgress>
  readonly #onProgress: (progress: SimulationProgress) => void
  readonly #coverage = new Coverage()
  readonly #failed: FailedHistory[] = []
  /** As if it had never been interrupted. */
  readonly #startedAt: number
  readonly #sums: Sums
  #done: RunProgress['done']
  #dealt = 0

  constructor(
    terms: SimulationArguments,
    state: StateFile<RunProgress>,
    onProgress: (progress: SimulationProgress) => void,
  ) {
    this.#terms = terms
    this.#state = state
    this.#onProgress = onProgress
    const { progress } = state
    this.#startedAt = Date.now() - (progress?.elapsedMs ?? 0)
    this.#done = progress?.done ?? []
    this.#sums = { ...NOTHING, ...progress?.sums }
    if (progress) this.#coverage.add(progress.coverage)
    this.#failed.push(...(progress?.failed ?? []))
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
    let block: Assignment | undefined
    return new Promise((resolve, reject) => {
      child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}`))))
      child.on('message', (report: SimulationReport) => {
        if (block) this.#add(block, report)
        block = this.#deal(child)
      })
      block = this.#deal(child)
    })
  }

  #deal(child: ChildProcess): Assignment | undefined {
    const { minutes, without } = this.#terms
    const over = Date.now() - this.#startedAt >= minutes * 60_000 || this.#failed.length >= FAILURES_THAT_STOP
    const size = over ? 0 : this.#nextSize()
    if (size <= 0) {
      child.disconnect()
      return undefined
    }
    const assignment: Assignment = { seed: this.#state.seed + this.#dealt, histories: size, without }
    this.#dealt += size
    child.send(assignment)
    return assignment
  }

  /** Goes past what was done before; how many histories are open from there, up to a block. */
  #nextSize(): number {
    for (const [from, size] of this.#done) {
      if (from > this.#dealt) return Math.min(BLOCK, from - this.#dealt, this.#terms.histories - this.#dealt)
      this.#dealt = Math.max(this.#dealt, from + size)
    }
    return Math.min(BLOCK, this.#terms.histories - this.#dealt)
  }

  #add({ seed, histories }: Assignment, report: SimulationReport): void {
    const sums = this.#sums
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += report[name]
    this.#coverage.add(report.coverage)
    this.#failed.push(...report.failed)
    this.#done = joined([...this.#done, [seed - this.#state.seed, histories]])
    const progress = this.#progress()
    const { elapsedMs } = progress
    this.#state.keep({ done: this.#done, sums, coverage: this.#coverage.counts, failed: this.#failed, elapsedMs })
    this.#onProgress(progress)
  }

  #progress(): SimulationProgress {
    const { histories: of } = this.#terms
    return { ...this.#sums, of, elapsedMs: Date.now() - this.#startedAt, failures: this.#failed.length }
  }
}

/** In order, and as few as possible: a block that begins where another ends is a part of it. */
export function joined(blocks: RunProgress['done']): RunProgress['done'] {
  const joint: [from: number, size: number][] = []
  for (const [from, size] of [...blocks].sort(([one], [other]) => one - other)) {
    const last = joint.at(-1)
    if (last && last[0] + last[1] === from) last[1] += size
    else joint.push([from, size])
  }
  return joint
}
