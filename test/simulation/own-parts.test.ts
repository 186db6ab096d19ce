import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteJournal } from '../../src/client/journal/sqlite/sqlite-journal.ts'
import type { SimulatedApi } from '../../src/testing/simulation/api-server.ts'
import { reportText } from '../../src/testing/simulation/report-text.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'

/** A server that keeps its promise, or does not. */
function shop({ remembers }: { readonly remembers: boolean }): SimulatedApi {
  const done: string[] = []
  return {
    async fetch(request) {
      const key = request.headers.get('idempotency-key') ?? ''
      await request.text()
      // A moment of its own: the simulated time stands still meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
      if (!remembers || !done.includes(key)) done.push(key)
      return Response.json({ done: true }, { status: 201 })
    },
    effects: (key) => done.filter((one) => one === key).length,
  }
}

describe('a server of one’s own', () => {
  it('keeps every promise where it honours the key', { timeout: 300_000 }, async () => {
    const report = await simulate({ seed: 1, histories: 100, api: () => shop({ remembers: true }) })
    expect(report.failed, reportText(report)).toEqual([])
    expect(report.requests).toBeGreaterThan(100)
  })

  it('is found out where it does not', { timeout: 300_000 }, async () => {
    const { failed } = await simulate({ seed: 1, histories: 300, api: () => shop({ remembers: false }) })
    expect(failed[0]?.broken[0]).toMatchObject({ promise: 'P3', sentence: expect.stringMatching(/done \d times/) })
    expect(failed[0]?.trace.some((line) => line.includes('does op'))).toBe(true)
  })

  it('counts as a server error where it throws', async () => {
    const api = { fetch: () => Promise.reject(new Error('no')), effects: () => 0 }
    const report = await simulate({ seed: 1, histories: 5, api: () => api })
    expect(report.failed, reportText(report)).toEqual([])
  })
})

describe('a journal of one’s own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-simulated-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('keeps every promise: SQLite on a real disk', { timeout: 300_000 }, async () => {
    let files = 0
    const journal = () => sqliteJournal({ path: join(folder, `${files++}.db`), durability: 'process' })
    const report = await simulate({ seed: 1, histories: 20, journal })
    expect(report.failed, reportText(report)).toEqual([])
    expect(files).toBe(20)
  })
})
