import { type Check, checkFunction, refuseOption, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import { systemClock, yieldToEventLoop } from '../../foundation/clock.ts'
import { Coverage, type CoverageCounts } from './coverage.ts'
import { type History, type HistoryOptions, runHistory } from './history.ts'
import type { BrokenPromise } from './oracle/facts.ts'
import { shrink } from './shrink.ts'

export interface SimulateOptions extends Pick<HistoryOptions, 'journal' | 'api'> {
  /** How many histories. Default 1000. */
  readonly histories?: number | undefined
  /** The first seed; each further history has the next one. Default 1. */
  readonly seed?: number | undefined
  /** Stops after so many minutes, however many histories that were. */
  readonly minutes?: number | undefined
  /** Faults that never happen, by name: what remains of each history happens as before. */
  readonly without?: readonly string[] | undefined
  /** Called about twice a second. */
  readonly onProgress?: ((progress: SimulationProgress) => void) | undefined
  /** Stops after so many histories with a broken promise. Default 1. */
  readonly stopAfter?: number | undefined
}

export interface SimulationProgress {
  readonly histories: number
  readonly of: number
  readonly elapsedMs: number
  readonly crashes: number
  readonly resumes: number
  readonly requests: number
  readonly retries: number
  readonly failures: number
}

/** A history in which a promise was broken, with what is needed to look into it. */
export interface FailedHistory {
  readonly seed: number | string
  readonly broken: readonly BrokenPromise[]
  /** The faults without which the same promise is broken just as well. */
  readonly without: readonly string[]
  /** One line per act, with these faults left out. */
  readonly trace: readonly string[]
}

export interface SimulationReport extends SimulationProgress {
  readonly failed: readonly FailedHistory[]
  /** How often each state, transition, fault, crash point and observation occurred. */
  readonly coverage: CoverageCounts
  /** What never occurred; in a run of some thousand histories, that is a failure of the simulation. */
  readonly missing: readonly string[]
}

const PROGRESS_EVERY_MS = 500

const CHECKS = {
  histories: [undefined, wholeFrom(0)],
  seed: [undefined, wholeFrom(0)],
  minutes: [
    undefined,
    (option, value) => (typeof value === 'number' ? value : refuseOption(option, 'a number', value)),
  ],
  without: [
    undefined,
    (option, value) => (Array.isArray(value) ? value : refuseOption(option, 'an array of names', value)),
  ],
  onProgress: [undefined, checkFunction],
  stopAfter: [undefined, wholeFrom(1)],
  journal: [undefined, checkFunction],
  api: [undefined, checkFunction],
} satisfies { [Name in keyof SimulateOptions]-?: [undefined, Check<unknown>] }

/** Lets many histories happen and holds the promises against each. A failing one is shrunk and reported with its trace. */
export async function simulate(options: SimulateOptions = {}): Promise<SimulationReport> {
  readOptions('simulate', options, CHECKS)
  const run = new SimulationRun(options)
  await run.go()
  return run.report()
}

class SimulationRun {
  readonly #options: SimulateOptions
  readonly #history: HistoryOptions
  readonly #of: number
  readonly #coverage = new Coverage()
  readonly #failed: FailedHistory[] = []
  readonly #startedAt = systemClock.now()
  #histories = 0
  #requests = 0
  #retries = 0

  constructor(options: SimulateOptions) {
    this.#options = options
    this.#of = options.histories ?? 1000
    this.#history = { without: new Set(options.without), journal: options.journal, api: options.api }
  }

  async go(): Promise<void> {
    const { seed = 1, minutes = Number.POSITIVE_INFINITY, stopAfter = 1, onProgress } = this.#options
    let reportedAt = this.#startedAt
    while (this.#histories < this.#of && this.#failed.length < stopAfter) {
      await this.#one(seed + this.#histories)
      const now = systemClock.now()
      if (now - this.#startedAt >= minutes * 60_000) break
      if (now - reportedAt < PROGRESS_EVERY_MS) continue
      reportedAt = now
      onProgress?.(this.#progress())
      await yieldToEventLoop()
    }
    onProgress?.(this.#progress())
  }

  async #one(seed: number): Promise<void> {
    const history = await runHistory(seed, this.#history)
    this.#histories++
    this.#requests += history.requests
    this.#retries += history.retries
    this.#coverage.add(history.coverage)
    if (history.broken.length > 0) this.#failed.push(await this.#explain(history))
  }

  async #explain(history: History): Promise<FailedHistory> {
    const small = await shrink(history, this.#history)
    const { lines, broken } = await runHistory(history.seed, { ...this.#history, without: small, traced: true })
    return { seed: history.seed, broken, without: [...small], trace: lines }
  }

  #progress(): SimulationProgress {
    const { counts } = this.#coverage
    return {
      histories: this.#histories,
      of: this.#of,
      elapsedMs: systemClock.now() - this.#startedAt,
      crashes: (counts.fault.crash ?? 0) + (counts.fault['power-cut'] ?? 0),
      resumes: (counts.transition.claim ?? 0) + (counts.transition['take-over'] ?? 0),
      requests: this.#requests,
      retries: this.#retries,
      failures: this.#failed.length,
    }
  }

  report(): SimulationReport {
    return {
      ...this.#progress(),
      failed: this.#failed,
      coverage: this.#coverage.counts,
      missing: this.#coverage.missing(),
    }
  }
}
