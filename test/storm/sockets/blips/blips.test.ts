import { expect, it } from 'vitest'
import type { BlipRow } from './blip-row.ts'
import { runBlips } from './run-blips.ts'

/* One short blip with real processes. A busy machine shifts times and shares, so only counts are compared. */

const LASTS_MS = 300
/** A process that stands still for the whole blip makes no call in it. */
const MOST_LAG_MS = 200

const failed = ({ failures }: BlipRow): number => Object.values(failures).reduce((sum, calls) => sum + calls, 0)

it('counts every call and every request of a blip over sockets', async ({ skip }) => {
  const clients = ['Holdfast', 'ky, 4 retries'] as const
  const choice = {
    faults: ['503'],
    seconds: [LASTS_MS / 1000],
    rates: [50],
    starts: ['warm'],
    clients,
    atOnce: 2,
  } as const
  const rows = await runBlips(choice, () => {})
  expect(rows.map(({ client }) => client)).toEqual(clients)
  // One second before the blip, 0.3 s of it and two seconds after it, with two clients of 50 per second.
  expect(rows.map(({ calls }) => calls)).toEqual([330, 330])
  for (const row of rows) {
    // No transport sends a request that its client does not know of.
    expect(row.requests).toBeLessThanOrEqual(row.attempts)
    // Each call in the blip either succeeds or has a reason.
    expect(Math.round(row.callsIn * (row.successIn || 0)) + failed(row)).toBe(row.callsIn)
    // Nothing befalls the server beside it.
    if (row.callsIn > 0) expect(row.besideSuccess).toBe(1)
  }
  skip(
    rows.some(({ lag }) => lag.longestMs > MOST_LAG_MS),
    'the machine was too busy',
  )
  for (const row of rows) expect(row.callsIn).toBeGreaterThan(0)
  const ky = rows[1]
  expect(ky?.requests).toBeGreaterThan(ky?.calls ?? Number.NaN)
})
