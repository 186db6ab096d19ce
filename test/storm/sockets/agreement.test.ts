import { describe, expect, it } from 'vitest'
import { type Figures, figuresOf } from './history.ts'
import type { Lag } from './lag.ts'
import { modelHistory } from './model-history.ts'
import { type SocketHistory, socketHistory } from './socket-history.ts'
import { halfCapacity, halfFails, type Trial } from './trials.ts'

/*
 * Does the model say what real clients do? One short run over sockets has dice of its own, and a busy machine adds to
 * them. So it is compared with the mean of many runs of the model, in counts only, and so widely that only a wrong
 * model fails: without retries there is one request per operation, without containment there are more than two.
 */

const MODEL_RUNS = 10
/** A run on a busier machine shows the machine: it is skipped, and the report says so. */
const MOST_LAG_HERE: Lag = { p99Ms: 60, longestMs: 400 }
const SHARE_TOLERANCE = 0.12
const REQUESTS_TOLERANCE = 0.25

type Counted = 'requests' | 'success' | 'requestsInOutage' | 'successInOutage'

function modelMean(trial: Trial, figure: Counted): number {
  const seeds = Array.from({ length: MODEL_RUNS }, (_, index) => index + 1)
  const values = seeds.map((seed) => figuresOf(modelHistory(trial, seed), trial.scenario)[figure])
  return values.reduce((sum, value) => sum + value, 0) / MODEL_RUNS
}

function expectNear(found: Figures, trial: Trial, tolerances: Partial<Record<Counted, number>>): void {
  for (const [figure, tolerance] of Object.entries(tolerances) as [Counted, number][]) {
    const expected = modelMean(trial, figure)
    expect(found[figure], figure).toBeGreaterThan(expected - tolerance)
    expect(found[figure], figure).toBeLessThan(expected + tolerance)
  }
}

function wasBusy({ lag }: SocketHistory): boolean {
  return lag.p99Ms > MOST_LAG_HERE.p99Ms || lag.longestMs > MOST_LAG_HERE.longestMs
}

function attemptsOf({ operations }: SocketHistory): number {
  return operations.reduce((sum, { attempts }) => sum + attempts, 0)
}

describe('model and sockets agree', () => {
  it('where half of all requests fail', async ({ skip }) => {
    const trial = halfFails(4000)
    const sockets = await socketHistory(trial, 1)
    // The transport sends nothing that the client does not know of, however busy the machine is.
    expect(sockets.requestsAt.length).toBeLessThanOrEqual(attemptsOf(sockets))
    skip(wasBusy(sockets), 'the machine was too busy')
    expectNear(figuresOf(sockets, trial.scenario), trial, { requests: REQUESTS_TOLERANCE, success: SHARE_TOLERANCE })
  })

  it('where a fleet meets a server with half of its capacity', async ({ skip }) => {
    const trial = halfCapacity({ beforeMs: 1500, lastsMs: 4500, afterMs: 0 })
    const sockets = await socketHistory(trial, 1)
    expect(sockets.requestsAt.length).toBeLessThanOrEqual(attemptsOf(sockets))
    skip(wasBusy(sockets), 'the machine was too busy')
    expectNear(figuresOf(sockets, trial.scenario), trial, {
      requestsInOutage: REQUESTS_TOLERANCE,
      successInOutage: SHARE_TOLERANCE,
    })
  })
})
