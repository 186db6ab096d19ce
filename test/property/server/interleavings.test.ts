import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inMemory, inSqlite, type LedgerData } from './support/ledger-data.ts'
import { LedgerWorld, type Outcome, type Step } from './support/ledger-world.ts'

const server = fc.nat(1)
const key = fc.oneof({ weight: 4, arbitrary: fc.constant('a') }, { weight: 1, arbitrary: fc.constant('b') })
const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Outcome>('done') },
  { weight: 1, arbitrary: fc.constantFrom<Outcome>('refused', 'failed', 'throws') },
)

const ask = fc.record({ do: fc.constant('ask' as const), server, key, outcome })
const go = fc.record({ do: fc.constant('go' as const), which: fc.nat(5) })
const lapse: Step = { do: 'pass', ms: 61_000 }

/** What it takes to lose a claim while one still believes to have it; by chance alone it would seldom come together. */
const overslept: fc.Arbitrary<Step[]> = fc
  .tuple(ask, fc.nat(2), fc.array(go, { maxLength: 3 }))
  .map(([asked, before, meanwhile]) => [
    asked,
    ...Array.from({ length: before }, (): Step => ({ do: 'go', which: 0 })),
    { do: 'freeze', server: asked.server },
    lapse,
    { ...asked, server: 1 - asked.server, outcome: 'done' },
    ...meanwhile,
    { do: 'thaw', server: asked.server },
  ])

const single: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: ask },
  { weight: 6, arbitrary: go },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), server, seen: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'thaw' as const), server }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reap' as const), server }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'pass', ms: 4_000 }, { do: 'pass', ms: 25_000 }, lapse) },
)

const steps = fc
  .array(fc.oneof({ weight: 5, arbitrary: single.map((each) => [each]) }, { weight: 1, arbitrary: overslept }), {
    minLength: 3,
    maxLength: 18,
  })
  .map((parts) => parts.flat())

async function inWorld(
  data: LedgerData,
  kind: 'effect' | 'external',
  body: (world: LedgerWorld) => Promise<void>,
): Promise<void> {
  const world = new LedgerWorld(data, kind)
  try {
    await body(world)
  } finally {
    await data.end()
  }
}

/** Finished answers; the others only say to come back. */
function lastWords(world: LedgerWorld, of: string): string[] {
  const final = world.answers.filter(({ key: its, status }) => its === of && status !== 409 && status < 500)
  return final.map(({ status, body }) => `${status} ${body}`)
}

async function holdsOnce(data: LedgerData, taken: readonly Step[]): Promise<void> {
  await inWorld(data, 'effect', async (world) => {
    for (const each of taken) {
      await world.take(each)
      for (const its of ['a', 'b']) expect(data.waits || data.count(its) <= 1, `effects of ${its}`).toBe(true)
    }
    await world.finish()
    for (const its of ['a', 'b']) {
      const word = await world.lastWord(its)
      expect(word, `a last word for ${its}`).toBeDefined()
      expect([...new Set(lastWords(world, its))].length, `different answers for ${its}`).toBe(1)
      expect(data.count(its), `effects of ${its}`).toBe(word?.status === 201 ? 1 : 0)
    }
  })
}

describe.each([
  ['memory', inMemory],
  ['SQLite', inSqlite],
])('whatever happens to two servers with one ledger in %s', (_, make) => {
  it('each key takes effect at most once, and everybody hears the same', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) => holdsOnce(make(), taken)),
      { numRuns: 100, verbose: 1 },
    )
  }, 120_000)

  it('work outside is begun at most once for each key, until somebody says what happened', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) =>
        inWorld(make(), 'external', async (world) => {
          for (const each of taken) await world.take(each)
          await world.finish()
          await world.lastWord('a')
          const begun = world.callsOutside.filter((its) => its === 'a').length
          const free = taken.some((each) => each.do === 'ask' && each.outcome === 'failed')
          expect(free || begun <= 1, `calls outside: ${begun}`).toBe(true)
        }),
      ),
      { numRuns: 50, verbose: 1 },
    )
  }, 120_000)
})
