import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { scenario } from '../../support/client-scenario.ts'
import { VirtualTime } from '../virtual-time.ts'
import { type HoldfastOptions, holdfastPolicy } from './holdfast.ts'

/* The model must send what the client itself sends: both meet the same operations and a server that comes back. */

const EVERY_MS = 700
const BACK_AT_MS = 25_000

/** Requests, second by second. */
type History = number[]

interface Case {
  readonly lastsMs: number
  readonly options: HoldfastOptions
}

function ofModel({ lastsMs, options: { concurrency = 8, ...options } }: Case): History {
  const time = new VirtualTime()
  const history: History = []
  const client = holdfastPolicy('Holdfast', { ...options, concurrency }).newClient({
    get now() {
      return time.now
    },
    random: seededRandom(7),
    after: (ms, run) => time.after(ms, run),
    send: (_operation, ended) => {
      note(history, time.now)
      const end = time.now >= BACK_AT_MS ? 'success' : 'refused'
      time.after(0, () => ended(end))
    },
    settle: () => {},
    finish: () => {},
  })
  for (let at = 0; at < lastsMs; at += EVERY_MS) {
    time.at(at, () => client.submit({ startedAt: at, attempts: 0 }))
  }
  time.runUntil(lastsMs)
  return history
}

async function ofClient({ lastsMs, options: { concurrency = 8, ...options } }: Case): Promise<History> {
  const history: History = []
  let startAt = 0
  const answer = (): { status: number } => {
    const at = clock.now() - startAt
    note(history, at)
    return { status: at >= BACK_AT_MS ? 200 : 503 }
  }
  const { client, clock } = scenario(answer, { budget: {}, ...options })
  startAt = clock.now()
  const watching = options.onGiveUp === 'keep' ? client.resume({ continuous: true, concurrency }) : undefined
  for (let at = 0; at < lastsMs; at += EVERY_MS) {
    client.post('/a').catch(() => {})
    await clock.advance(Math.min(EVERY_MS, lastsMs - at))
  }
  await client.close()
  await watching
  return history
}

function note(history: History, at: number): void {
  const second = Math.floor(at / 1000)
  history[second] = (history[second] ?? 0) + 1
}

const FAILING: readonly (readonly [name: string, options: HoldfastOptions])[] = [
  ['the defaults', {}],
  ['the budget only', { breaker: false }],
  ['the breaker only', { budget: false }],
  ['neither', { budget: false, breaker: false }],
  ['decorrelated jitter', { budget: false, breaker: false, retry: { jitter: 'decorrelated' } }],
  ['a burst of one', { budget: { burst: 1 } }],
]

const KEEPING: readonly (readonly [name: string, options: HoldfastOptions])[] = [
  ['the defaults', {}],
  ['the budget only', { breaker: false }],
  ['the breaker only', { budget: false }],
  ['a burst of ten', { budget: { burst: 10 } }],
  ['one at a time', { breaker: false, concurrency: 1 }],
]

/** How many were sent by the end of each second. */
function sums(history: History, lastsMs: number): number[] {
  let sum = 0
  return Array.from({ length: lastsMs / 1000 }, (_, second) => {
    sum += history[second] ?? 0
    return sum
  })
}

describe('the model of the client', () => {
  it.each(FAILING)('sends in every second what the client sends with %s', async (_name, options) => {
    const one = { lastsMs: 40_000, options }
    expect(ofModel(one)).toEqual(await ofClient(one))
  })

  it.each(KEEPING)('resumes what the client resumes, nearly at the same time, with %s', async (_name, given) => {
    // Long enough that everything is done again.
    const one = { lastsMs: 120_000, options: { ...given, onGiveUp: 'keep' } } as const
    const model = sums(ofModel(one), one.lastsMs)
    const client = sums(await ofClient(one), one.lastsMs)
    // They throw their dice in another order: one request may be more.
    expect(Math.abs((model.at(-1) ?? 0) - (client.at(-1) ?? 0))).toBeLessThanOrEqual(1)
    for (const [second, sum] of client.entries()) {
      expect(sum).toBeLessThanOrEqual(model[second + 1] ?? sum)
      // Without time passing, a manual clock lets only so much happen.
      expect(sum).toBeGreaterThanOrEqual(model[second - 2] ?? 0)
    }
  })
})
