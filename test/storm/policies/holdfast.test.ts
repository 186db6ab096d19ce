import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { scenario } from '../../support/client-scenario.ts'
import { VirtualTime } from '../virtual-time.ts'
import { type HoldfastOptions, holdfastPolicy } from './holdfast.ts'

/* The model must send what the client itself sends: both meet the same operations and a server that comes back. */

const EVERY_MS = 700
const LASTS_MS = 40_000
const BACK_AT_MS = 25_000

/** Requests, second by second. */
type History = number[]

function ofModel({ concurrency = 8, ...options }: HoldfastOptions): History {
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
  for (let at = 0; at < LASTS_MS; at += EVERY_MS) {
    time.at(at, () => client.submit({ startedAt: at, attempts: 0 }))
  }
  time.runUntil(LASTS_MS)
  return history
}

async function ofClient({ concurrency = 8, ...options }: HoldfastOptions): Promise<History> {
  const history: History = []
  let startAt = 0
  const { client, clock } = scenario(() => {
    const at = clock.now() - startAt
    note(history, at)
    return { status: at >= BACK_AT_MS ? 200 : 503 }
  }, options)
  startAt = clock.now()
  const watching = options.onGiveUp === 'keep' ? client.resume({ continuous: true, concurrency }) : undefined
  for (let at = 0; at < LASTS_MS; at += EVERY_MS) {
    client.post('/a').catch(() => {})
    await clock.advance(Math.min(EVERY_MS, LASTS_MS - at))
  }
  await client.close()
  await watching
  return history
}

function note(history: History, at: number): void {
  const second = Math.floor(at / 1000)
  history[second] = (history[second] ?? 0) + 1
}

function total(history: History, from = 0, until = history.length): number {
  return history.slice(from, until).reduce((sum, count) => sum + (count ?? 0), 0)
}

const CASES: readonly (readonly [name: string, options: HoldfastOptions])[] = [
  ['the defaults', {}],
  ['the budget only', { breaker: false }],
  ['the breaker only', { budget: false }],
  ['neither', { budget: false, breaker: false }],
  ['a burst of one', { budget: { burst: 1 } }],
  ['keep', { onGiveUp: 'keep' }],
  ['keep without a breaker', { onGiveUp: 'keep', breaker: false }],
  ['keep, one at a time', { onGiveUp: 'keep', breaker: false, concurrency: 1 }],
]

describe('the model of the client', () => {
  it.each(CASES)('sends as many requests as the client does with %s', async (_name, options) => {
    const model = ofModel(options)
    const client = await ofClient(options)
    const down = BACK_AT_MS / 1000
    const within = (count: number): number => Math.max(3, 0.06 * count)
    expect(Math.abs(total(model, 0, down) - total(client, 0, down))).toBeLessThanOrEqual(within(total(client, 0, down)))
    expect(Math.abs(total(model, down) - total(client, down))).toBeLessThanOrEqual(within(total(client, down)))
  })
})
