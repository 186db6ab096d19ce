import { describe, expect, it } from 'vitest'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { backlogRow } from './backlog.ts'
import { type BlipRow, blipRow } from './blips.ts'
import { blip, dead, type Fault, flaky, halfCapacity, type Start, slow, type Trouble } from './troubles.ts'

/* What the gate must show. */

const GATE = holdfastPolicy('Holdfast')
const SLOW_MACHINE_MS = 60_000
const row = (trouble: Trouble): BlipRow => blipRow(trouble, GATE, { seed: 1 })

interface Case {
  readonly fault: Fault
  readonly lastsMs: number
  readonly perSecond: number
  readonly start: Start
  readonly most: number
}

const QUICK: readonly Fault[] = ['503', 'reset', 'refused']
const CASES: readonly Case[] = [
  ...QUICK.flatMap((fault) =>
    [300, 1000, 3000].flatMap((lastsMs) =>
      (['warm', 'started'] as const).flatMap((start): Case[] => [
        { fault, lastsMs, perSecond: 10, start, most: 2 },
        { fault, lastsMs, perSecond: 100, start, most: 1.3 },
      ]),
    ),
  ),
  { fault: '503', lastsMs: 1000, perSecond: 1000, start: 'warm', most: 1.3 },
  // The calls that were sent before the silence is noticed cost a second request each.
  { fault: 'hang', lastsMs: 300, perSecond: 100, start: 'warm', most: 2 },
  { fault: 'hang', lastsMs: 1000, perSecond: 100, start: 'warm', most: 1.3 },
  { fault: 'hang', lastsMs: 3000, perSecond: 100, start: 'warm', most: 1.3 },
  { fault: 'hang', lastsMs: 3000, perSecond: 10, start: 'started', most: 2 },
]

describe('one process', () => {
  it.each(CASES)('rides out $fault for $lastsMs ms at $perSecond calls per second, $start', ({ most, ...trouble }) => {
    const { lastsMs } = trouble
    const found = row(blip({ ...trouble, clients: 1 }))
    expect(found.successIn).toBeGreaterThanOrEqual(0.99)
    expect(found.successAfter).toBe(1)
    expect(found.requests).toBeLessThanOrEqual(most)
    expect(found.p99Ms).toBeLessThanOrEqual(lastsMs + 1000)
  })

  it.each([
    { rate: 0.25, least: 0.999, requests: 1.35, p99Ms: 1000 },
    { rate: 0.5, least: 0.97, requests: 1.95, p99Ms: 3000 },
    // A success pays for 1.1 retries: at four requests per success that is a third of the calls.
    { rate: 0.75, least: 0.37, requests: 1.6, p99Ms: 10_000 },
  ])('gets done where $rate fail what attempts and tokens allow', ({ rate, least, requests, p99Ms }) => {
    const found = row(flaky(rate, 20))
    expect(found.successIn).toBeGreaterThanOrEqual(least)
    expect(found.requests).toBeLessThanOrEqual(requests)
    expect(found.p99Ms).toBeLessThan(p99Ms)
  })

  it.each([
    ['503', 100],
    // The first failure is known when an attempt has timed out: the breaker opens a second later.
    ['hang', 700],
  ] as const)('spends little on a server that is dead by %s, and is soon back', (fault, mostMs) => {
    const found = row(dead({ clients: 1, perSecond: 200 }, fault))
    expect(found.requests).toBeLessThan(0.05)
    expect(found.successLater).toBeGreaterThanOrEqual(0.99)
    expect(found.toldAfterMs).toBeLessThanOrEqual(mostMs)
  })

  it.each([
    { tookMs: 800, perSecond: 20, rate: 0, least: 1 },
    { tookMs: 300, perSecond: 20, rate: 0, least: 1 },
    { tookMs: 800, perSecond: 100, rate: 0, least: 1 },
    { tookMs: 800, perSecond: 20, rate: 0.02, least: 0.99 },
  ])(
    'sends all it has to a server that takes $tookMs ms, at $perSecond per second, and fails now and then',
    (trouble) => {
      const found = row(slow(trouble))
      expect(found.successIn).toBeGreaterThanOrEqual(trouble.least)
      expect(found.requests).toBeLessThanOrEqual(1.1)
    },
  )

  it('is done with a thousand kept operations sooner than ten at a time', () => {
    const policy = holdfastPolicy('Holdfast', { onGiveUp: 'keep' })
    expect(backlogRow(0, { operations: 1000, seed: 1, runs: 1, policy }).longestMs).toBeLessThan(1500)
    expect(backlogRow(0.25, { operations: 1000, seed: 1, runs: 3, policy }).longestMs).toBeLessThan(10_000)
  })
})

describe('a fleet', () => {
  it.each([
    { clients: 300, least: 0.99, most: 2.7 },
    { clients: 3000, least: 0.95, most: 3 },
  ])('of $clients processes with 300 calls per second rides out a second', ({ clients, least, most }) => {
    const found = row(blip({ fault: '503', lastsMs: 1000, clients, perSecond: 300 }))
    expect(found.successIn).toBeGreaterThanOrEqual(least)
    expect(found.requests).toBeLessThanOrEqual(most)
  })

  it(
    'brings no server down that is back after three seconds',
    () => {
      const found = row(blip({ fault: '503', lastsMs: 3000, clients: 300, perSecond: 300 }))
      expect(found.successIn).toBeGreaterThanOrEqual(0.99)
      expect(found.successAfter).toBeGreaterThanOrEqual(0.99)
    },
    SLOW_MACHINE_MS,
  )

  it(
    'holds no server down whose clients are many and make a call now and then',
    () => {
      const found = row(blip({ fault: '503', lastsMs: 3000, clients: 3000, perSecond: 300 }))
      expect(found.requests).toBeLessThanOrEqual(3)
      expect(found.successLater).toBeGreaterThanOrEqual(0.99)
    },
    SLOW_MACHINE_MS,
  )

  it('spends in an outage at most 0.7 requests per call', () => {
    expect(row(dead({ clients: 300, perSecond: 300 })).requests).toBeLessThanOrEqual(0.7)
  })

  it.each(['early', 'late'] as const)(
    'waits its turn at a server that has half of its capacity and refuses %s',
    (refuses) => {
      const found = row(halfCapacity(refuses))
      expect(found.successIn).toBeGreaterThanOrEqual(0.95)
      expect(found.requests).toBeLessThanOrEqual(1.1)
    },
    SLOW_MACHINE_MS,
  )
})
