import { describe, expect, it } from 'vitest'
import { journalTables } from '../../../../src/client/journal/postgres/journal-tables.ts'
import { PostgresBudget } from '../../../../src/client/journal/postgres/shared-budget.ts'
import type { PostgresPool } from '../../../../src/sql/postgres-driver.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

const OWN = { tokens: 10, burst: 10, rest: 2, reservePerSecond: 0.1 }
const ORIGIN = 'https://api.test'

/** A row that starts with so many tokens; it has whatever successes pay in. */
function rowOf(tokens: number) {
  const clock = manualClock()
  const row = { tokens, statements: 0 }
  const query = async (_text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
    if (values === undefined) return { rows: [] }
    const [earned, wanted] = values.slice(-2) as [number, number]
    row.statements++
    const granted = Math.min(wanted, Math.floor(row.tokens + earned))
    row.tokens += earned - granted
    return { rows: [{ granted, tokens: row.tokens }] }
  }
  const pool = { query } as unknown as PostgresPool
  const budget = new PostgresBudget(async () => pool, journalTables('any'), clock)
  return { row, clock, budget, take: () => budget.take(ORIGIN, OWN) }
}

describe('the row of an origin', () => {
  it('is asked at once while it has tokens', async () => {
    const { row, take } = rowOf(3)
    expect([await take(), await take(), await take()]).toEqual([true, true, true])
    expect(row).toEqual({ tokens: 0, statements: 3 })
  })

  it('that is empty is asked ten times a second, however many retries come back to it', async () => {
    const { row, clock, take } = rowOf(0)
    expect(await take()).toBe(false)
    const asked = { refused: 0 }
    const ask = (): void => {
      void take().then((isGranted) => {
        if (!isGranted && ++asked.refused < 1000) ask()
      })
    }
    for (let taker = 0; taker < 20; taker++) ask()
    await clock.advance(1000)
    expect(asked.refused).toBe(20 * 10)
    expect(row.statements).toBe(1 + 10)
  })

  it('that turns out to be empty is asked again for those that came meanwhile', async () => {
    const { row, clock, take } = rowOf(1)
    const answers = Promise.all([take(), take(), take()])
    await clock.advance(100)
    expect(await answers).toEqual([true, false, false])
    expect(row.statements).toBe(2)
  })

  it('that was empty is asked with what successes have earned', async () => {
    const { row, clock, budget, take } = rowOf(0)
    await take()
    budget.deposit(ORIGIN, 1.1)
    const taken = take()
    await clock.advance(100)
    expect(await taken).toBe(true)
    expect(row.statements).toBe(2)
  })

  it('that is empty is left alone once the budget is closed', async () => {
    const { row, clock, budget, take } = rowOf(0)
    await take()
    const waiting = take()
    budget.close()
    await clock.advance(1000)
    // Its own budget decides.
    expect(await waiting).toBe(true)
    expect(row.statements).toBe(1)
    expect(clock.pending()).toBe(0)
  })
})
