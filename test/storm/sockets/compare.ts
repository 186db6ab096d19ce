import { type Figures, figuresOf } from './history.ts'
import { isTooLate, type Lag } from './lag.ts'
import { modelHistory } from './model-history.ts'
import { socketHistory } from './socket-history.ts'
import type { Trial } from './trials.ts'

/** The same trial, so many times in the model and so many times over sockets. */
export interface Comparison {
  readonly trial: Trial
  readonly model: readonly Figures[]
  readonly sockets: readonly Figures[]
  readonly lags: readonly Lag[]
  /** Runs that a busy machine spoiled. */
  readonly discarded: number
}

/** A machine that is busy for this many runs has no time for this. */
const MOST_DISCARDED = 5

export async function compare(trial: Trial, runs: number, tell: (line: string) => void): Promise<Comparison> {
  const seeds = Array.from({ length: runs }, (_, index) => index + 1)
  const model = seeds.map((seed) => figuresOf(modelHistory(trial, seed), trial.scenario))
  const sockets: Figures[] = []
  const lags: Lag[] = []
  let discarded = 0
  while (sockets.length < runs && discarded < MOST_DISCARDED) {
    const { lag, told, ...history } = await socketHistory(trial, sockets.length + 1)
    tell(JSON.stringify({ lag, told }))
    if (isTooLate(lag)) {
      discarded++
      continue
    }
    sockets.push(figuresOf(history, trial.scenario))
    lags.push(lag)
  }
  return { trial, model, sockets, lags, discarded }
}
