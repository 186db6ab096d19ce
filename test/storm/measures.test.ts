import { describe, expect, it } from 'vitest'
import { FleetLog } from './fleet-log.ts'
import { measure, quantile } from './measures.ts'
import { outage, type Scenario } from './scenario.ts'

const SCENARIO: Scenario = outage({ clients: 10, operationsPerSecond: 10, observedMs: 20_000 })
const { downFrom, downUntil } = SCENARIO.server

/** Ten operations in every second; each makes one request, and all succeed but those in the outage. */
function calmLog(): FleetLog {
  const log = new FleetLog()
  for (let at = 0; at < SCENARIO.until; at += 100) {
    const down = at >= downFrom && at < downUntil
    log.started.add(at)
    log.requests.add(at)
    if (down) log.refused.add(at)
    else succeed(log, at, 10)
  }
  return log
}

function succeed(log: FleetLog, startedAt: number, tookMs: number): void {
  log.answered.add(startedAt)
  log.succeeded.add(startedAt)
  log.successes.push({ startedAt, tookMs })
}

describe('the measures', () => {
  it('find nothing wrong where nothing is', () => {
    expect(measure(calmLog(), SCENARIO)).toEqual({
      amplificationInOutage: 1,
      amplification: 1,
      peakAfter: 10 / SCENARIO.server.capacityPerSecond,
      recoveredAfterMs: 0,
      successInOutage: 0,
      answeredAfter: 1,
      p50Ms: 10,
      p99Ms: 10,
      wasted: 0,
    })
  })

  it('count the requests of the outage apart', () => {
    const log = calmLog()
    for (let at = downFrom; at < downUntil; at += 100) log.requests.add(at)
    const { amplification, amplificationInOutage } = measure(log, SCENARIO)
    expect(amplificationInOutage).toBe(2)
    expect(amplification).toBe((600 + 300) / 600)
  })

  it('see the highest second after the outage', () => {
    const log = calmLog()
    log.requests.add(downUntil + 5000, 90)
    expect(measure(log, SCENARIO).peakAfter).toBe(100 / SCENARIO.server.capacityPerSecond)
  })

  it('call a server recovered from the second after the last bad one', () => {
    const slow = calmLog()
    slow.queueMs.raise(downUntil + 4500, 101)
    expect(measure(slow, SCENARIO).recoveredAfterMs).toBe(5000)
    const failing = calmLog()
    failing.started.add(downUntil + 7000)
    expect(measure(failing, SCENARIO).recoveredAfterMs).toBe(8000)
  })

  it('call a server that is still ill at the end not recovered', () => {
    const log = calmLog()
    log.queueMs.raise(SCENARIO.until - 1, 5000)
    expect(measure(log, SCENARIO).recoveredAfterMs).toBeUndefined()
  })

  it('tell what the caller got from what was done in the end', () => {
    const log = calmLog()
    for (let at = downFrom; at < downUntil; at += 100) log.succeeded.add(at)
    for (let count = 0; count < 200; count++) log.started.add(downUntil)
    const { successInOutage, answeredAfter } = measure(log, SCENARIO)
    expect(successInOutage).toBe(1)
    expect(answeredAfter).toBe(0.5)
  })

  it('take times from everything that began since the outage', () => {
    const log = calmLog()
    for (let count = 0; count < 10; count++) succeed(log, downFrom, 60_000)
    for (let count = 0; count < 10; count++) succeed(log, 0, 90_000)
    const { p50Ms, p99Ms } = measure(log, SCENARIO)
    expect([p50Ms, p99Ms]).toEqual([10, 60_000])
  })

  it('weigh a refusal by its cost and a late answer in full', () => {
    const log = calmLog()
    log.requests.add(downUntil, 200)
    log.refused.add(downUntil, 100)
    log.late.add(downUntil, 100)
    expect(measure(log, SCENARIO).wasted).toBeCloseTo((100 + 10) / (300 + 10))
  })

  it('take a quantile from the values themselves', () => {
    const values = Array.from({ length: 100 }, (_, index) => index + 1)
    expect([0, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 50, 99, 100])
    expect(quantile([], 0.5)).toBeNaN()
  })
})
